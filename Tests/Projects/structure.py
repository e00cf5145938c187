"""Checks the files that Xcode reads beside the sources: the project, the property lists, the entitlements."""

import plistlib
import re

from pbxproj import XcodeProject


def faults(row, files, folder, bundle):
    """The first thing that is wrong with the files of a project; empty if nothing is."""
    try:
        lists(row, files, bundle)
        project(row, files, folder, bundle)
    except AssertionError as error:
        return f"{error.__traceback__.tb_next.tb_lineno}: {error}"
    return ""


def lists(row, found, bundle):
    isMac = row["platform"] == "macos"
    # Inside the synchronized folder they would be copied a second time: "Multiple commands produce Info.plist".
    assert ("Info.plist" in found) != isMac and not any(path.count("/") == 1 and path.endswith((".plist", ".entitlements")) for path in found)
    if not isMac:
        info = plistlib.loads(found["Info.plist"].encode())
        assert info["CFBundleURLTypes"] == [{"CFBundleURLSchemes": [f"msauth.{bundle}"]}]
        assert info["LSApplicationQueriesSchemes"] == ["msauthv2", "msauthv3"]
        scenes = info.get("UIApplicationSceneManifest", {}).get("UISceneConfigurations", {}).get("UIWindowSceneSessionRoleApplication")
        named = scenes and scenes[0]["UISceneDelegateClassName"]
        hasDelegate = any(path.endswith("/SceneDelegate.swift") for path in found)
        assert named == ("$(PRODUCT_MODULE_NAME).SceneDelegate" if hasDelegate else None), named
    rights = plistlib.loads(next(text for path, text in found.items() if path.endswith(".entitlements")).encode())
    group = "com.microsoft.identity.universalstorage" if isMac else "com.microsoft.adalcache"
    assert rights["keychain-access-groups"] == [f"$(AppIdentifierPrefix){group}"]
    assert rights.get("com.apple.security.network.client", False) == isMac and rights.get("com.apple.security.app-sandbox", False) == isMac


def project(row, found, root, bundle):
    name, = {path.split(".")[0] for path in found if path.endswith("/project.pbxproj")}
    path = root / "project.pbxproj"
    path.write_text(found[f"{name}.xcodeproj/project.pbxproj"])
    read = XcodeProject.load(str(path))
    assert str(read.objectVersion) == "77"
    target, = read.objects.get_targets()
    product, = [read.get_object(each) for each in target.packageProductDependencies]
    reference = read.get_object(product.package)
    assert product.productName == "MSAL" and reference.repositoryURL.endswith("/AzureAD/microsoft-authentication-library-for-objc")
    built = [each for each in read.objects.get_objects_in_section("PBXBuildFile") if each.productRef == product.get_id()]
    frameworks, = read.objects.get_objects_in_section("PBXFrameworksBuildPhase")
    assert [each.get_id() for each in built] == list(frameworks.files), "MSAL is not linked"
    folder, = [read.get_object(each) for each in target.fileSystemSynchronizedGroups]
    assert folder.isa == "PBXFileSystemSynchronizedRootGroup" and any(each.startswith(f"{folder.path}/") for each in found), folder.path
    settings = [each.buildSettings for each in read.objects.get_objects_in_section("XCBuildConfiguration")]
    own = [each for each in settings if "PRODUCT_BUNDLE_IDENTIFIER" in each]
    assert len(settings) == 4 and len(own) == 2
    for each in own:
        assert each["PRODUCT_BUNDLE_IDENTIFIER"] == bundle and each["GENERATE_INFOPLIST_FILE"] == "YES"
        assert ("INFOPLIST_FILE" in each) == ("Info.plist" in found) and each["CODE_SIGN_ENTITLEMENTS"] in found
        # An app that is built with the iOS 27 SDK ends at launch without scenes.
        hasScenes = "UIApplicationSceneManifest" in found.get("Info.plist", "") or "INFOPLIST_KEY_UIApplicationSceneManifest_Generation" in each
        assert row["platform"] == "macos" or hasScenes, "no scene manifest"
    versions = [each[name] for each in settings for name in ("IPHONEOS_DEPLOYMENT_TARGET", "MACOSX_DEPLOYMENT_TARGET") if name in each]
    assert versions == (["14.0"] * 2 if row["platform"] == "macos" else ["17.0"] * 2)
    declared = set(read.objects.get_keys())
    named = set(re.findall(r"\bA1000000\w+", path.read_text()))
    assert named == declared, named ^ declared
