// The national clouds of Microsoft: each has sign-in hosts, domains, a Graph and a portal of its own.
//
// Source: learn.microsoft.com/entra/identity-platform/authentication-national-cloud and learn.microsoft.com/graph/deployments. The hosts of
// B2C are also in MSAL for Python (authority.py, WELL_KNOWN_B2C_HOSTS). Of External ID outside the worldwide cloud no document has hosts.

const clouds = [
  {
    id: "china",
    names: ["microsoftonline.cn", "chinacloudapi.cn", "onmschina.cn", "b2clogin.cn", "ciamlogin.cn"],
    graph: "https://microsoftgraph.chinacloudapi.cn/",
    portal: "https://portal.azure.cn/",
    domain: "partner.onmschina.cn",
  },
  {
    id: "us",
    names: ["microsoftonline.us", "usgovcloudapi.net", "microsoft.us", "onmicrosoft.us", "b2clogin.us", "ciamlogin.us"],
    graph: "https://graph.microsoft.us/",
    also: " (DoD: https://dod-graph.microsoft.us/)",
    portal: "https://portal.azure.us/",
    domain: "onmicrosoft.us",
  },
  { id: "germany", names: ["microsoftonline.de", "cloudapi.de", "onmicrosoft.de", "b2clogin.de"], isClosed: true },
  { id: "sovereign", names: ["sovcloud-identity.fr", "sovcloud-identity.de", "sovcloud-identity.sg"] },
];

/** The national cloud to which a host or a domain belongs; undefined for those of the worldwide one, and for all others. */
export const cloudOf = (name) => clouds.find(({ names }) => names.some((each) => `.${name.toLowerCase()}`.endsWith(`.${each}`)));

/** Where Microsoft Graph is for those whose tokens come from a host. */
export const graphOf = (host) => cloudOf(host)?.graph ?? "https://graph.microsoft.com/";

/** Whether a host is one of B2C's, in any cloud. */
export const isB2C = (host) => /\.b2clogin\.(?:com|cn|us|de)$/i.test(host);
