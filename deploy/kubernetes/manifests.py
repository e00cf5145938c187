"""The checks of deploy/kubernetes/test."""
import contextlib
import pathlib
import re

import kubernetes_validate
import yaml
from tally import Suite

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FILE = HERE / "companion.yaml"
OBJECTS = [document for document in yaml.safe_load_all(FILE.read_text()) if document]
VERSIONS = ["1.34", "1.35", "1.36", "1.37"]


def the(kind):
    found = [item for item in OBJECTS if item["kind"] == kind]
    assert len(found) == 1, f"{len(found)} objects of kind {kind}"
    return found[0]


def schemas():
    for version in VERSIONS:
        for item in OBJECTS:
            kubernetes_validate.validate(item, version, strict=True)


def schemas_are_strict():
    """The check above would notice: a field that there is not, a value of another type, and one that is missing."""
    for change in (lambda spec: spec.update(replica=2), lambda spec: spec.update(replicas="two"), lambda spec: spec.pop("template")):
        broken = yaml.safe_load(yaml.safe_dump(the("Deployment")))
        change(broken["spec"])
        try:
            kubernetes_validate.validate(broken, VERSIONS[-1], strict=True)
        except kubernetes_validate.ValidationError:
            continue
        raise AssertionError(f"nothing wrong with {broken['spec']}")


def pod():
    return the("Deployment")["spec"]["template"]


def labels():
    own = pod()["metadata"]["labels"]
    selectors = [the("Deployment")["spec"]["selector"]["matchLabels"], the("PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
                 the("Service")["spec"]["selector"], the("NetworkPolicy")["spec"]["podSelector"]["matchLabels"]] + [
        constraint["labelSelector"]["matchLabels"] for constraint in pod()["spec"]["topologySpreadConstraints"]]
    for selector in selectors:
        assert selector and selector.items() <= own.items(), selector


def references():
    (container,) = pod()["spec"]["containers"]
    ports = {port["name"]: port["containerPort"] for port in container["ports"]}
    settings = the("ConfigMap")["data"]
    assert ports["http"] == int(settings["COMPANION_LISTEN"].rpartition(":")[2])
    assert ports["metrics"] == int(settings["COMPANION_METRICS_LISTEN"].rpartition(":")[2])
    assert pod()["metadata"]["annotations"]["prometheus.io/port"] == str(ports["metrics"])
    (port,) = the("Service")["spec"]["ports"]
    assert port["targetPort"] in ports
    (rule,) = the("Ingress")["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert path["backend"]["service"] == {"name": the("Service")["metadata"]["name"], "port": {"name": port["name"]}}
    assert settings["COMPANION_PUBLIC_URL"] == f"https://{rule['host']}"
    assert [rule["host"]] == the("Ingress")["spec"]["tls"][0]["hosts"]
    volumes = {volume["name"] for volume in pod()["spec"]["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes
    for source in container["envFrom"]:
        for kind, name in (("ConfigMap", source.get("configMapRef")), ("Secret", source.get("secretRef"))):
            assert not name or the(kind)["metadata"]["name"] == name["name"], name


def network():
    """The pods take connections at their ports alone, and each port from a namespace of its own."""
    (container,) = pod()["spec"]["containers"]
    policy = the("NetworkPolicy")["spec"]
    assert policy["policyTypes"] == ["Ingress"]
    callers = {}
    for rule in policy["ingress"]:
        (caller,), (port,) = rule["from"], rule["ports"]
        callers[port["port"]] = caller["namespaceSelector"]["matchLabels"]["kubernetes.io/metadata.name"]
    assert callers.keys() == {port["name"] for port in container["ports"]}, callers
    assert len(set(callers.values())) == len(callers), "the pages and the metrics have the same callers"


def no_root():
    whole, (container,) = pod()["spec"], pod()["spec"]["containers"]
    assert whole["securityContext"]["runAsNonRoot"] and whole["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    user = f"USER {whole['securityContext']['runAsUser']}:{whole['securityContext']['runAsGroup']}\n"
    assert user in (ROOT / "deploy" / "container" / "Dockerfile").read_text(), user
    own = container["securityContext"]
    assert own["readOnlyRootFilesystem"] and own["allowPrivilegeEscalation"] is False and own["capabilities"] == {"drop": ["ALL"]}
    assert whole["automountServiceAccountToken"] is False
    assert "memory" in container["resources"]["limits"] and "cpu" in container["resources"]["requests"]


def times():
    (container,) = pod()["spec"]["containers"]
    probe = container["readinessProbe"]
    drain = int(the("ConfigMap")["data"]["COMPANION_DRAIN_SECONDS"])
    assert probe["httpGet"]["path"] == "/readyz?exclude=database"
    assert drain > probe["periodSeconds"] * probe["failureThreshold"], "it stops before it is taken out"
    assert pod()["spec"]["terminationGracePeriodSeconds"] >= drain + 10 + 5, "it is killed before it has finished"
    # A database that is away for long is no reason to start anew.
    for name in ("livenessProbe", "startupProbe"):
        assert container[name]["httpGet"]["path"] == "/healthz"
    assert the("Deployment")["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0
    assert the("Deployment")["spec"]["replicas"] > the("PodDisruptionBudget")["spec"]["maxUnavailable"]


def settings():
    """Each variable is a setting's, as the guide's tables have them."""
    guide = (ROOT / "deploy/guides/configuration.md").read_text()
    keys = {key.replace(".", "_").upper() for key in re.findall(r"^\| `([a-z_.]+)` \|", guide, re.MULTILINE)}
    for name in the("ConfigMap")["data"] | the("Secret")["stringData"]:
        plain = name.removeprefix("COMPANION_").removeprefix("APPS_IOS_")
        assert plain == "APPS" or plain in keys, f"{name} is no setting"
    secret = {"COMPANION_DATABASE_PASSWORD", "COMPANION_ENCRYPTION_KEY", "COMPANION_APPS_IOS_CLIENT_SECRET"}
    assert the("Secret")["stringData"].keys() == secret, "what is secret stands in the Secret alone"
    assert not secret & the("ConfigMap")["data"].keys()


def main():
    suite = Suite("deploy/kubernetes/test")
    tests = [
        (f"the manifests fit the schemas of Kubernetes {', '.join(VERSIONS)}", schemas),
        ("the schemas would notice a mistake", schemas_are_strict),
        ("every selector finds the pods", labels),
        ("names and ports fit each other", references),
        ("only the ingress controller and Prometheus reach the pods, each at its port", network),
        ("nothing runs as root, or with more than it needs", no_root),
        ("a pod is taken out before it stops, and has the time to finish", times),
        ("every variable is a setting, and what is secret is in the Secret", settings),
    ]
    for sentence, test in tests:
        test.sentence = sentence
    suite.run([test for _, test in tests], contextlib.nullcontext, lambda test, _: test())
    suite.end()


main()
