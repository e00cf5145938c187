"""The Xcode projects: those that the page makes, read as Xcode's own tools would, and compared with those of the command."""

import base64
import io
import pathlib
import plistlib
import subprocess
import tempfile
import zipfile

from pbxproj import XcodeProject

from .languages import ask_for
from .registry import registry
from .swift_lines import compiler, stand_ins

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
# What no identifier has, and a careless paste may.
NASTY = {
    "blanks": " com.contoso. tasks ", "quotes": 'com."contoso".\\.tasks', "another alphabet": "com.contoso.tåsks.日本", "markup": "com.<contoso>&amp;.tasks",
    "an end of a line": "com.contoso\n.tasks", "a part of the template's own language": "{{client_id}}⟦x⟧%end", "10,000 characters": "com." + "a" * 9_996,
}


def made(browser, project, values):
    """The archive that the page makes of a project."""
    script = """
      const [project, values, done] = arguments;
      import("/assets/project.js").then(async ({ projectZip, demoValues, policyPieces, projects }) => {
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
        assert all(name.startswith("TutorialApp/") for name in found.namelist()), found.namelist()
        return {name.removeprefix("TutorialApp/"): found.read(name) for name in found.namelist()}


def rows(browser):
    browser.open("/native")
    script = "const [done] = arguments; import('/assets/project.js').then(({ projects }) => done(projects));"
    found = browser.driver.execute_async_script(script)
    assert len(found) == 7
    return found


def nine(browser):
    """Every project of an own tenant, and the first two with the demo's values."""
    found = rows(browser)
    return [(row, "mine") for row in found] + [(row, "demo") for row in found[:2]]


def type_checks(folder, modules, found):
    for path, content in found.items():
        if path.endswith(".swift"):
            (folder / pathlib.Path(path).name).write_bytes(content)
    return compiler("-typecheck", "-parse-as-library", "-warnings-as-errors", "-I", modules, *folder.glob("*.swift"))


@test("every project's sources type-check together, and its property lists and its project can be read")
def whole_projects(browser):
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        for kit in ("UIKit", "AppKit"):
            stand_ins(root / kit, kit)
        for index, (row, tenant) in enumerate(nine(browser)):
            archive = made(browser, row["id"], values(row["kind"], tenant=tenant))
            (root / "project.zip").write_bytes(archive)
            said = subprocess.run(["unzip", "-t", root / "project.zip"], capture_output=True, text=True, timeout=60)
            assert said.returncode == 0, said.stdout
            found = files(archive)
            folder = root / f"sources{index}"
            folder.mkdir()
            modules = root / ("AppKit" if row["platform"] == "macos" else "UIKit")
            status, said = type_checks(folder, modules, found)
            assert status == 0, f"{row['id']}, {tenant}: {said[:3000]}"
            lists(row, found)
            project(row, found, root)
        # The check itself can fail.
        broken = found | {"TutorialApp/AppDelegate.swift": found["TutorialApp/AppDelegate.swift"].replace(b"ViewController()", b"Controller()")}
        assert type_checks(folder, modules, broken)[0] != 0, "a wrong name passes"


def lists(row, found):
    isMac = row["platform"] == "macos"
    # Inside the synchronized folder they would be copied a second time: "Multiple commands produce Info.plist".
    assert ("Info.plist" in found) != isMac and not any(path.startswith("TutorialApp/") and path.endswith((".plist", ".entitlements")) for path in found)
    if not isMac:
        info = plistlib.loads(found["Info.plist"])
        assert info["CFBundleURLTypes"] == [{"CFBundleURLSchemes": [f"msauth.{BUNDLE}"]}]
        assert info["LSApplicationQueriesSchemes"] == ["msauthv2", "msauthv3"]
        scenes = info.get("UIApplicationSceneManifest", {}).get("UISceneConfigurations", {}).get("UIWindowSceneSessionRoleApplication")
        named = scenes and scenes[0]["UISceneDelegateClassName"]
        hasDelegate = "TutorialApp/SceneDelegate.swift" in found
        assert named == ("$(PRODUCT_MODULE_NAME).SceneDelegate" if hasDelegate else None), row["id"]
    rights = plistlib.loads(found["TutorialApp.entitlements"])
    group = "com.microsoft.identity.universalstorage" if isMac else "com.microsoft.adalcache"
    assert rights["keychain-access-groups"] == [f"$(AppIdentifierPrefix){group}"]
    assert rights.get("com.apple.security.network.client", False) == isMac and rights.get("com.apple.security.app-sandbox", False) == isMac


def project(row, found, root, bundle=BUNDLE):
    path = root / "project.pbxproj"
    path.write_bytes(found["TutorialApp.xcodeproj/project.pbxproj"])
    read = XcodeProject.load(str(path))
    assert str(read.objectVersion) == "77"
    target, = read.objects.get_targets()
    product, = [read.get_object(each) for each in target.packageProductDependencies]
    reference = read.get_object(product.package)
    assert product.productName == "MSAL" and reference.repositoryURL.endswith("/AzureAD/microsoft-authentication-library-for-objc")
    assert reference.requirement.minimumVersion == "2.13.0"
    built = [each for each in read.objects.get_objects_in_section("PBXBuildFile") if each.productRef == product.get_id()]
    frameworks, = read.objects.get_objects_in_section("PBXFrameworksBuildPhase")
    assert [each.get_id() for each in built] == list(frameworks.files), "MSAL is not linked"
    folder, = [read.get_object(each) for each in target.fileSystemSynchronizedGroups]
    assert folder.isa == "PBXFileSystemSynchronizedRootGroup" and folder.path == "TutorialApp"
    settings = [each.buildSettings for each in read.objects.get_objects_in_section("XCBuildConfiguration")]
    own = [each for each in settings if "PRODUCT_BUNDLE_IDENTIFIER" in each]
    assert len(settings) == 4 and len(own) == 2
    for each in own:
        assert each["PRODUCT_BUNDLE_IDENTIFIER"] == bundle and each["GENERATE_INFOPLIST_FILE"] == "YES"
        assert ("INFOPLIST_FILE" in each) == ("Info.plist" in found) and each["CODE_SIGN_ENTITLEMENTS"] in found
    versions = [each[name] for each in settings for name in ("IPHONEOS_DEPLOYMENT_TARGET", "MACOSX_DEPLOYMENT_TARGET") if name in each]
    assert versions == (["14.0"] * 2 if row["platform"] == "macos" else ["17.0"] * 2)
    declared = set(read.objects.get_keys())
    named = {word for word in path.read_text().replace(";", " ").replace(",", " ").split() if word.startswith("A1000000")}
    assert named == declared, named ^ declared


@test("the command makes the same files as the page, byte for byte, in each language")
def same_as_command(browser):
    server = browser.server
    with tempfile.TemporaryDirectory() as name:
        for index, (row, tenant) in enumerate(nine(browser)):
            language = ("en", "ja", "pt-PT", "sv", "zh-Hans", "pt-BR")[index % 6]
            ask_for(browser, language)
            browser.open("/native")
            own = values(row["kind"], tenant=tenant)
            folder = pathlib.Path(name) / str(index)
            given = ["--demo"] if tenant == "demo" else ["--authority", own["authority"], *(f"--scope={scope}" for scope in own["scopes"])]
            if tenant == "mine" and row["kind"] != "workforce":
                given += ["--api", own["api"]]
            subprocess.run(
                [server.binary, "native", "--bundle-id", BUNDLE, "--client-id", CLIENT, "--platform", row["platform"], "--kind", row["kind"],
                 "--style", row["style"], "--language", language, "--public", server.public, "--project", folder, *given],
                check=True, capture_output=True, timeout=60, cwd=name)
            written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
            assert written == files(made(browser, row["id"], own)), f"{row['id']}, {tenant}"
        ask_for(browser, None)
        usual = [server.binary, "native", "--bundle-id", BUNDLE, "--client-id", CLIENT, "--public", server.public]
        for given, status, said in (
            (["--project", folder], 1, "exists already"),
            (["--project", f"{folder}-2", "--kind", "external"], 1, "--authority is missing"),
            (["--project", f"{folder}-2", "--authority", "http://login.example/common"], 1, "MSAL accepts no other"),
            (["--project", f"{folder}-2", "--kind", "b2c", "--style", "swiftui", "--demo"], 1, "There is no project of the style swiftui for b2c and ios."),
            (["--kind", "b2c"], 64, "choose the project of --project"),
        ):
            refused = subprocess.run([*usual, *given], capture_output=True, text=True, timeout=60, cwd=name)
            assert refused.returncode == status and said in refused.stderr, f"{given}: {refused.returncode} {refused.stderr}"
        assert not pathlib.Path(f"{folder}-2").exists()


@test("an identifier that is none stays a value in each file of a project")
def nasty(browser):
    project_rows = [row for row in rows(browser) if row["id"] in ("workforce-ios", "b2c-ios", "workforce-ios-swiftui")]
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        stand_ins(root / "UIKit", "UIKit")
        for index, (what, text) in enumerate(NASTY.items()):
            row = project_rows[index % len(project_rows)]
            own = values(row["kind"], bundle_id=text, client_id=text) | {name: text for name in ("api", "tenant_name") if name in MINE[row["kind"]]}
            found = files(made(browser, row["id"], own))
            folder = root / f"sources{index}"
            folder.mkdir()
            status, said = type_checks(folder, root / "UIKit", found)
            assert status == 0, f"{what}: {said[:2000]}"
            oneLine = text.replace("\n", " ")
            assert plistlib.loads(found["Info.plist"])["CFBundleURLTypes"][0]["CFBundleURLSchemes"] == [f"msauth.{oneLine}"], what
            (root / "project.pbxproj").write_bytes(found["TutorialApp.xcodeproj/project.pbxproj"])
            read = XcodeProject.load(str(root / "project.pbxproj"))
            settings = [each.buildSettings for each in read.objects.get_objects_in_section("XCBuildConfiguration")]
            assert {each["PRODUCT_BUNDLE_IDENTIFIER"] for each in settings if "PRODUCT_BUNDLE_IDENTIFIER" in each} == {oneLine}, what
