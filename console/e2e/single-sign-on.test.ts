import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { ScriptedAgent } from "../../gateway/test/agents/scripted-agent.ts";
import { Issuer } from "../../gateway/test/sign-in/issuer.ts";
import { bareEnvironment } from "../../test/bare-environment.ts";
import { commandOf, programs } from "../../test/programs.ts";
import { accessibilityViolations } from "./accessibility.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { email, type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";
import type { StartedGateway } from "./started-gateway.ts";

const bob = "bob@example.com";

/** The tests depend on their order: later ones sign in with the account that an earlier one connects. */
describe.skipIf(noBrowser !== null)("single sign-on, agent sign-in and leaving members", () => {
  let opened: OpenedConsole;
  const issuer = new Issuer();
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ gateway, ada, browser } = opened);
    // An empty list: claims that rules need and the ID token lacks would be requested from the userinfo endpoint.
    issuer.answers = { claims: { email, name: "Ada", groups: [] } };
    const account = issuer.account();
    await ada.call("settings.putOidc", {
      params: { account: account.id },
      body: {
        name: account.name,
        issuer: account.issuer,
        client_id: account.clientId,
        client_secret: account.clientSecret.reveal(),
        allowed_domains: ["example.com"],
      },
    });
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
  });

  afterEach(() => browser?.leave());
  afterAll(async () => {
    await opened?.stop();
    issuer.stop();
  });

  const signInWithCorp = async (page: Page) => {
    await page.goto("/console/profile");
    await page.getByRole("button", { name: "Continue with Corp" }).click();
  };
  /** Sign-in visits the issuer, which is another origin; no other requests to it are allowed. */
  const faults = () => browser.faults.filter((fault) => !fault.startsWith(`${issuer.url}/authorize`));

  test("an external account with the administrator's address cannot sign in until the administrator connects it", async () => {
    const page = await browser.page();
    await signInWithCorp(page);
    await page.getByRole("alert").getByText("An account with this email address exists").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Email address" }).fill(email);
    await page.getByRole("textbox", { name: "Password" }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await navigateTo(page, "/console/profile");
    await page.getByText("No accounts connected").waitFor();
    await page.getByRole("button", { name: "Connect Corp" }).click();
    await page.getByRole("status").getByText("Corp is connected").waitFor();
    await page.getByRole("row", { name: new RegExp(issuer.url) }).waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    const other = await browser.page();
    await signInWithCorp(other);
    await other.getByRole("heading", { name: "Profile and sign-in" }).waitFor();
    expect(faults()).toEqual([]);
  });

  test("saves a setting that needs a recent sign-in after single sign-on in a new tab, and keeps the input", async () => {
    const page = await ada.page(browser);
    let isRefused = false;
    await page.route("**/api/settings", async (route) => {
      if (isRefused || route.request().method() !== "PATCH") return route.continue();
      isRefused = true;
      // As if the last sign-in was ten minutes ago.
      await route.fulfill({ status: 403, json: { error: { code: "confirm_sign_in", message: "Sign in again." } } });
    });
    // A user without a password gets no password field.
    await page.route("**/api/auth/account", async (route) => {
      const answer = await route.fetch();
      await route.fulfill({ response: answer, json: { ...(await answer.json()), password: false } });
    });
    await page.goto("/console/settings");
    const days = page.getByLabel("Keep request records");
    await days.fill("500");
    await page.getByRole("button", { name: "Save settings" }).click();
    const tab = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Continue with Corp" }).click();
    expect(await page.getByRole("dialog").getByLabel("Password").count()).toBe(0);
    await (await tab).getByRole("heading", { level: 1, name: "Settings" }).waitFor();
    await page.getByRole("button", { name: "Signed in there: continue here" }).click();
    await page.getByRole("button", { name: "Discard" }).waitFor({ state: "detached" });
    expect(await days.inputValue()).toBe("500 days");
    // The new sign-in ended the old session.
    ada = await signInAs(gateway.url, email);
    expect((await ada.call("settings.show", {})).settings.ledger?.retention_days).toBe(500);
    expect(faults()).toEqual([]);
  });

  test("signs in a coding agent with its code and single sign-on; another agent is denied", async () => {
    const file = join(gateway.dataDir, "login.json");
    const login = Bun.spawn([...commandOf(programs.cli), "login", gateway.url], {
      env: { ...bareEnvironment(), SLUICE_LOGIN_FILE: file },
      stdout: "pipe",
      stderr: "pipe",
    });
    let printed = "";
    for await (const piece of login.stderr.pipeThrough(new TextDecoderStream())) {
      printed += piece;
      if (printed.includes("Waiting")) break;
    }
    const [link, code] = [/Open (\S+)/.exec(printed)?.[1] ?? "", /code (\S{4}-\S{4})/.exec(printed)?.[1] ?? ""];

    // With the link, while signed out: after single sign-on, the code is filled in but not sent yet.
    const page = await browser.page();
    const requestedPaths: string[] = [];
    page.on("request", (request) => requestedPaths.push(new URL(request.url()).pathname));
    await page.goto(link);
    await page.getByRole("button", { name: "Continue with Corp" }).click();
    const field = page.getByRole("textbox", { name: "Code" });
    await field.waitFor();
    expect(await field.inputValue()).toBe(code);
    expect(requestedPaths.filter((path) => path.startsWith("/api/agents/"))).toEqual([]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("Does the device show this code?").waitFor();
    await page.getByText("sluice-cli").waitFor();
    expect(await page.locator("output").innerText()).toBe(code);
    expect(requestedPaths.filter((path) => path.startsWith("/api/agents/"))).toEqual(["/api/agents/find-device"]);
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Workspace" }).selectOption({ label: "Acme" });
    await page.getByRole("button", { name: "Code matches: sign in" }).click();
    await page.getByText("Device signed in").waitFor();

    // Typed manually: first a wrong code, then in lower case.
    const agent = new ScriptedAgent(gateway.url);
    const other = (await agent.device()).body;
    await page.getByRole("button", { name: "Enter another code" }).click();
    expect(await field.inputValue()).toBe("");
    await field.fill("BCDF-GHJK");
    await page.getByRole("button", { name: "Continue" }).click();
    await page.getByText("No device is waiting with this code").waitFor();
    await field.fill(other.user_code.replace("-", "").toLowerCase());
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Deny" }).click();
    await page.getByText("Device denied").waitFor();
    expect((await agent.poll(other.device_code)).body.error).toBe("access_denied");

    // The agent calls with the user's token.
    expect(await login.exited).toBe(0);
    const { accessToken } = await Bun.file(file).json();
    const answer = await agent.message(accessToken, "demo");
    expect([answer.status, answer.body.role]).toEqual([200, "assistant"]);
    await page.getByRole("link", { name: "Open profile" }).click();
    await page.getByRole("row", { name: /sluice-cli.*acme/ }).waitFor();
    expect(faults()).toEqual([]);
  });

  test("removing a member shows their keys and asks what to do with them", async () => {
    const invited = await ada.call("invitations.create", {
      params: { workspace: "acme" },
      body: { email: bob, role: "member" },
    });
    const token = invited.link.slice(invited.link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name: "Bob", password } });
    const params = { workspace: "acme" };
    await (await signInAs(gateway.url, bob)).call("keys.create", { params, body: { name: "nightly" } });
    const page = await ada.page(browser);
    await page.goto("/console/workspaces/acme?tab=members");
    await page
      .getByRole("row", { name: /bob@example.com/ })
      .getByRole("button", { name: "Remove" })
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("an API key", { exact: true }).waitFor();
    await dialog.getByText("nightly").waitFor();
    await dialog.getByRole("radio", { name: "Transfer this key" }).check();
    await dialog.getByRole("combobox", { name: "New owner in acme" }).waitFor();
    await dialog.getByRole("radio", { name: "Disable this key" }).check();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove member" }).click();
    await dialog.waitFor({ state: "hidden" });
    const keys = (await ada.call("keys.list", { params })).data;
    expect(keys.find(({ name }) => name === "nightly")?.state).toBe("disabled");
    expect(faults()).toEqual([]);
  });

  test("rights rules are edited in order, tried with claims before saving, and saved", async () => {
    const page = await ada.page(browser);
    await page.goto("/console/settings?tab=sign-in&rules=oidc:corp");
    const dialog = page.getByRole("dialog");
    const button = (name: string) => dialog.getByRole("button", { name });
    await button("Add rule").click();
    await button("Save rules").click();
    await dialog.getByText("Enter a value.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await dialog.getByRole("textbox", { name: "Value" }).fill("eng");
    await dialog.getByRole("combobox", { name: "Workspace" }).fill("acme");
    await dialog.getByRole("combobox", { name: "Role" }).click();
    await page.getByRole("option", { name: "Member" }).click();
    await button("Add rule").click();
    await dialog.getByRole("textbox", { name: "Value" }).fill("ops");
    await dialog.getByRole("radio", { name: "Administrator" }).check();
    await button("Move rule 2 up").click();
    await dialog.getByRole("textbox", { name: "Claims" }).fill('{ "groups": ["eng"] }');
    await button("Try claims").click();
    await dialog.getByText("acme: Member by rule 2").waitFor();
    await dialog.getByText("groups is eng: none of the values match.").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await button("Save rules").click();
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("row", { name: "Corp 2 rules" }).waitFor();
    expect((await ada.call("rights.rules", { params: { source: "oidc:corp" } })).rules).toEqual([
      { claim: "groups", contains: "ops", administrator: true },
      { claim: "groups", contains: "eng", workspace: "acme", role: "member" },
    ]);
    expect(faults()).toEqual([]);
  });

  test("asks for the second factor after single sign-on, and then opens the requested page", async () => {
    const post = async (path: string, body: object) =>
      await ada.send(`/api/auth/two-factor/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
      });
    const { totp_uri, backup_codes } = (await (await post("enable", { password })).json()) as {
      totp_uri: string;
      backup_codes: string[];
    };
    const key = new URL(totp_uri).searchParams.get("secret") ?? "";
    expect((await post("verify-totp", { code: oneTimeCode(key) })).status).toBe(200);
    const page = await browser.page();
    await signInWithCorp(page);
    await page.getByText("Enter the six-digit code").waitFor();
    expect(await accessibilityViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Use a backup code" }).click();
    await page.getByRole("textbox", { name: "Backup code" }).fill(backup_codes[0] ?? "");
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("heading", { name: "Profile and sign-in" }).waitFor();
    await page.getByRole("button", { name: "Disconnect" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Disconnect" }).click();
    await page.getByText("No accounts connected").waitFor();
    expect(faults()).toEqual([]);
  });
});
