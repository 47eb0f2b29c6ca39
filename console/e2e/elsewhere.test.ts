import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Page } from "playwright-core";
import { Issuer } from "../../gateway/test/sign-in/issuer.ts";
import { barriers } from "./barriers.ts";
import { oneTimeCode } from "./one-time-code.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { password, type Somebody, signInAs } from "./somebody.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const administrator = "ada@example.com";
const bob = "bob@example.com";

/** In order: what is connected in one test signs in in the next. */
describe.skipIf(noBrowser !== null)("people who come from elsewhere, and people who leave", () => {
  const issuer = new Issuer();
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let ada: Somebody;

  beforeAll(async () => {
    gateway = await startGateway({ administrator: { email: administrator, password } });
    ada = await signInAs(gateway.url, administrator);
    browser = await openBrowser(gateway.url);
    issuer.answers = { claims: { email: administrator, name: "Ada" } };
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
    await browser?.close();
    await gateway?.stop();
    issuer.stop();
  });

  const comeFromElsewhere = async (page: Page) => {
    await page.goto("/console/profile");
    await page.getByRole("button", { name: "Continue with Corp" }).click();
  };
  /** The trip leads over the issuer, which is another site; nothing else may be asked of one. */
  const faults = () => browser.faults.filter((fault) => !fault.startsWith(`${issuer.url}/authorize`));

  test("an account elsewhere with the administrator's address opens nothing until the administrator connects it", async () => {
    const page = await browser.page({ bypassCSP: true });
    await comeFromElsewhere(page);
    await page.getByRole("alert").getByText("An account with this email address exists").waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Email address" }).fill(administrator);
    await page.getByRole("textbox", { name: "Password" }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    await page.getByRole("navigation", { name: "Pages" }).waitFor();
    await page.goto("/console/profile");
    await page.getByText("No accounts connected").waitFor();
    await page.getByRole("button", { name: "Connect Corp" }).click();
    await page.getByRole("status").getByText("Corp is connected").waitFor();
    await page.getByRole("row", { name: new RegExp(issuer.url) }).waitFor();
    expect(await barriers(page)).toEqual([]);
    const other = await browser.page();
    await comeFromElsewhere(other);
    await other.getByRole("heading", { name: "Profile and sign-in" }).waitFor();
    expect(faults()).toEqual([]);
  });

  test("whoever removes a member sees the keys that they made, and says what becomes of them", async () => {
    const invited = await ada.call("invitations.create", {
      params: { workspace: "acme" },
      body: { email: bob, role: "member" },
    });
    const token = invited.link.slice(invited.link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name: "Bob", password } });
    const params = { workspace: "acme" };
    await (await signInAs(gateway.url, bob)).call("keys.create", { params, body: { name: "nightly" } });
    const page = await ada.page(browser, { bypassCSP: true });
    await page.goto("/console/workspaces/acme?tab=members");
    await page
      .getByRole("row", { name: /bob@example.com/ })
      .getByRole("button", { name: "Remove" })
      .click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("an API key: nightly").waitFor();
    await dialog.getByRole("radio", { name: "Transfer them" }).check();
    await dialog.getByRole("combobox", { name: "New owner" }).waitFor();
    await dialog.getByRole("radio", { name: "Disable them" }).check();
    expect(await barriers(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Remove member" }).click();
    await dialog.waitFor({ state: "hidden" });
    const [key] = (await ada.call("keys.list", { params })).data;
    expect(key).toMatchObject({ name: "nightly", state: "disabled" });
    expect(faults()).toEqual([]);
  });

  test("a second factor is asked for after coming from elsewhere, and leads on to the page that was wanted", async () => {
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
    const page = await browser.page({ bypassCSP: true });
    await comeFromElsewhere(page);
    await page.getByText("Enter the six-digit code").waitFor();
    expect(await barriers(page)).toEqual([]);
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
