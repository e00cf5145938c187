"""The archives of the Xcode projects that the page makes. `Tests/Projects` checks the projects that are in them."""

import base64
import io
import re
import zipfile

from .languages import ask_for
from .registry import registry

tests, test = registry("projects")

BUNDLE, CLIENT = "com.contoso.tasks", "00001111-aaaa-2222-bbbb-3333cccc4444"
MINE = {
    "workforce": {"authority": "https://login.microsoftonline.com/common", "scopes": ["user.read"], "graph": "https://graph.microsoft.com/", "api": ""},
    "external": {"authority": "https://contoso.ciamlogin.com/contoso.onmicrosoft.com", "scopes": ["api://contoso/tasks.read"],
                 "graph": "https://graph.microsoft.com/", "api": "https://api.example.com/tasks?a=b&c"},
    "b2c": {"authority": "https://contoso.b2clogin.com/tfp/contoso.onmicrosoft.com/b2c_1_susi", "host": "contoso.b2clogin.com",
            "tenant_name": "contoso.onmicrosoft.com", "sign_in_policy": "b2c_1_susi", "edit_policy": "b2c_1_edit_profile",
            "scopes": ["https://contoso.onmicrosoft.com/api/demo.read"], "graph": "https://graph.microsoft.com/", "api": "https://api.example.com/hello"},
}


def made(browser, project, values):
    """The archive that the page makes of a project."""
    script = """
      const [project, values, done] = arguments;
      const modules = [import("/assets/scripts/native/project.js"), import("/assets/scripts/base/project.js")];
      Promise.all(modules).then(async ([{ projectZip, projects }, { demoValues, policyPieces }]) => {
        if (values.tenant === "demo") {
          const { kind } = projects.find(({ id }) => id === project);
          Object.assign(values, demoValues(kind));
          if (kind === "b2c") Object.assign(values, policyPieces(values.authority), { edit_policy: "b2c_1_edit_profile" });
        }
        const reader = new FileReader();
        reader.onload = () => done(reader.result.split(",")[1]);
        reader.readAsDataURL(await projectZip(project, values));
      }).catch((error) => done(`failed: ${error.stack}`));"""
    answer = browser.driver.execute_async_script(script, project, values)
    assert not answer.startswith("failed"), answer
    return base64.b64decode(answer)


def values(kind, **more):
    bundle = more.get("bundle_id", BUNDLE)
    return MINE[kind] | {"bundle_id": BUNDLE, "client_id": CLIENT, "redirect_uri": f"msauth.{bundle}://auth", "tenant": "mine"} | more


def files(archive):
    """The files of an archive by path below its one folder."""
    with zipfile.ZipFile(io.BytesIO(archive)) as found:
        assert found.testzip() is None
        assert all(name.startswith("TasksApp/") for name in found.namelist()), found.namelist()
        return {name.removeprefix("TasksApp/"): found.read(name) for name in found.namelist()}


def rows(browser):
    browser.open("/native")
    script = "const [done] = arguments; import('/assets/scripts/native/project.js').then(({ projects }) => done(projects));"
    found = browser.driver.execute_async_script(script)
    return found


@test("each project's archive opens, and has all files of the project, in each language")
def archives(browser):
    for index, row in enumerate(rows(browser)):
        ask_for(browser, ("en", "ja", "pt-PT", "sv", "zh-Hans", "pt-BR")[index % 6])
        browser.open("/native")
        for tenant in ("mine", "demo"):
            found = files(made(browser, row["id"], values(row["kind"], tenant=tenant)))
            assert {"README.md", "TasksApp.xcodeproj/project.pbxproj"} < found.keys(), found.keys()
            assert BUNDLE.encode() in found["TasksApp.xcodeproj/project.pbxproj"], row["id"]
            for path, content in found.items():
                assert not re.search(r"{{|\u27e6|undefined", content.decode()), f"{row['id']}: {path}"
    ask_for(browser, None)
