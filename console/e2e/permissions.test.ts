import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { meets, type Need, type RouteId, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import type { Page } from "playwright-core";
import { visibleGroups } from "../src/shell/page-list.ts";
import { followTo } from "./furnished/all-pages.ts";
import { noBrowser, type OpenedBrowser, openBrowser } from "./opened-browser.ts";
import { password, Refused, type Somebody, signInAs } from "./somebody.ts";
import { type StartedGateway, startGateway } from "./started-gateway.ts";

const administrator = "ada@example.com";
const emailOf = (role: WorkspaceRole) => `${role}@example.com`;

/** In order: people join by the links of the first test, and what follows is about them. */
describe.skipIf(noBrowser !== null)("what each role sees and may do in the console", () => {
  let browser: OpenedBrowser;
  let gateway: StartedGateway;
  let ada: Somebody;
  let aKey = "";
  const people = new Map<WorkspaceRole, Somebody>();

  beforeAll(async () => {
    gateway = await startGateway({ administrator: { email: administrator, password } });
    ada = await signInAs(gateway.url, administrator);
    browser = await openBrowser(gateway.url);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
    await ada.call("workspaces.create", { body: { slug: "other", name: "Other" } });
    const made = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "made by ada" } });
    aKey = made.key.id;
  });

  afterAll(async () => {
    await browser?.close();
    await gateway?.stop();
  });

  function of(role: WorkspaceRole): Somebody {
    const somebody = people.get(role);
    if (somebody === undefined) throw new Error(`The ${role} has not joined`);
    return somebody;
  }

  /** One page for all tests of somebody, which follow each other: the program is loaded once for each person. */
  let opened: { readonly somebody: Somebody; readonly page: Page } | null = null;

  async function pageOf(somebody: Somebody): Promise<Page> {
    if (opened?.somebody === somebody) return opened.page;
    await browser.leave();
    const page = await somebody.page(browser);
    opened = { somebody, page };
    return page;
  }

  async function expectNavigation(page: Page, held: Need): Promise<void> {
    await followTo(page, "/console/");
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await links.first().waitFor();
    const allowed = visibleGroups((need) => meets(held, need)).flatMap(({ pages }) => pages.map(({ label }) => label));
    expect(await links.allTextContents(), held).toEqual(allowed);
  }

  test("an administrator invites by a dialog, and whoever has the link joins by it with a password of their own", async () => {
    const adas = await pageOf(ada);
    await adas.goto("/console/workspaces/acme?tab=members");
    for (const role of workspaceRoles) {
      const link = await invite(adas, role);
      const page = await browser.page();
      await page.goto(link);
      await page.getByLabel("Your name").fill(`The ${role}`);
      expect(page.url()).not.toContain("invite=");
      await page.getByLabel("Password", { exact: true }).fill(password);
      await page.getByLabel("Repeat password").fill(password);
      await page.getByRole("button", { name: "Create account" }).click();
      await page.getByRole("navigation", { name: "Pages" }).waitFor();
      await browser.leave(page);
      people.set(role, await signInAs(gateway.url, emailOf(role)));
    }
  });

  async function invite(page: Page, role: WorkspaceRole): Promise<string> {
    await page.getByRole("button", { name: "Invite member" }).first().click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Email").fill(emailOf(role));
    await dialog.getByRole("radio", { name: new RegExp(`^${role}`, "i") }).check();
    await dialog.getByRole("button", { name: "Invite", exact: true }).click();
    await dialog.getByText(`${emailOf(role)} invited`).waitFor();
    const link = /http\S+invite=[\w-]+/.exec(await dialog.innerText())?.[0] ?? "";
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    return link;
  }

  test("the navigation shows an administrator every page", async () => {
    await expectNavigation(await pageOf(ada), "administrator");
  });

  test("the API refuses whatever the pages do not show", async () => {
    const acme = { workspace: "acme" };
    await refused(of("viewer"), "keys.create", { params: acme, body: { name: "mine" } });
    await refused(of("viewer"), "requests.show", { params: { workspace: "other", request: "req_1" } });
    await refused(of("member"), "keys.revoke", { params: { ...acme, key: aKey } });
    await refused(of("member"), "groups.create", { params: acme, body: { name: "more" } });
    await refused(of("member"), "audit.list", { params: acme });
    await refused(of("admin"), "workspaces.update", { params: acme, body: { name: "Renamed" } });
    await refused(of("admin"), "members.update", {
      params: { ...acme, user: (await idOf(of("owner"))) ?? "" },
      body: { role: "viewer" },
    });
    await refused(of("owner"), "workspaces.update", { params: acme, body: { models: ["*"] } });
    await refused(of("owner"), "providers.list", {});
    await refused(of("owner"), "settings.show", {});
    await refused(of("owner"), "usage.series", { params: { workspace: "-" }, query: { from: 0, to: 1 } });
  });

  test("the navigation shows a member the pages they may open, and no other", async () => {
    await expectNavigation(await pageOf(of("member")), "member");
  });

  test("a member makes keys, and cannot end somebody else's", async () => {
    const page = await pageOf(of("member"));
    await followTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "Create key")).toBeGreaterThan(0);
    await followTo(page, `/console/keys/${aKey}`);
    await page.getByRole("heading", { level: 1, name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "Revoke key")).toBe(0);
  });

  test("a member who leaves hands over what they made, and nothing that spends in their name", async () => {
    const acme = { params: { workspace: "acme" } };
    const me = (await ada.call("members.list", acme)).data.find(({ email }) => email === emailOf("member"));
    const made = await of("member").call("keys.create", { ...acme, body: { name: "mine", owner: me?.id ?? "" } });
    const page = await pageOf(of("member"));
    await followTo(page, "/console/workspaces/acme?tab=members");
    await page.getByRole("button", { name: "Leave" }).click();
    const transfer = page.getByRole("dialog").getByRole("radio", { name: "Transfer them" });
    await transfer.waitFor();
    expect(await transfer.isDisabled()).toBe(true);
    await page.getByText("Ask an admin of the workspace to transfer them.").waitFor();
    await ada.call("keys.revoke", { params: { workspace: "acme", key: made.key.id } });
  });

  test.each([
    ["member", 0],
    ["admin", 1],
  ] as const)("a workspace gives a %s %i button to invite", async (role, buttons) => {
    const page = await pageOf(of(role));
    await followTo(page, "/console/workspaces/acme?tab=members");
    await page.getByRole("row", { name: /owner@example.com/ }).waitFor();
    expect(await enabledButtons(page, "Invite member")).toBe(buttons);
  });

  test("the navigation shows an admin the pages they may open, and no other", async () => {
    await expectNavigation(await pageOf(of("admin")), "admin");
  });

  test("an admin of a workspace invites into no other", async () => {
    await refused(of("admin"), "invitations.create", {
      params: { workspace: "other" },
      body: { email: "new@example.com", role: "viewer" },
    });
  });

  test("the navigation shows an owner the pages they may open, and no other", async () => {
    await expectNavigation(await pageOf(of("owner")), "owner");
  });

  test("a page that is not for somebody says so when its address is typed", async () => {
    const page = await pageOf(of("owner"));
    await page.goto("/console/providers");
    await page.getByText("For administrators").waitFor();
    expect(await page.getByRole("button", { name: "Add provider" }).count()).toBe(0);
    // Of the settings everybody has their own admin tokens, and nothing else.
    await followTo(page, "/console/settings?tab=users");
    await page.getByRole("heading", { level: 2, name: "Admin tokens" }).waitFor();
    expect(await page.getByRole("tab").count()).toBe(0);
    expect(await page.getByRole("button", { name: /Invite|Save/ }).count()).toBe(0);
    // The page writes each role in its own words.
    await followTo(page, "/console/profile");
    await page.getByRole("cell", { name: "Owner", exact: true }).waitFor();
  });

  test("a session that was ended elsewhere leads to the sign-in page, and from there back to the page", async () => {
    const page = await pageOf(of("owner"));
    await followTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    const elsewhere = await signInAs(gateway.url, emailOf("owner"));
    const ended = await elsewhere.send("/api/auth/sessions/end-others", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(ended.status).toBe(200);
    // The page may find out by a question of its own first, and then the link is gone before it can be clicked.
    const link = page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Workspaces" });
    const signIn = page.getByRole("heading", { name: "Sign in" });
    await Promise.any([link.click().then(() => signIn.waitFor()), signIn.waitFor()]);
    expect(await page.getByText("made by ada").count()).toBe(0);
    const next = new URL(page.url()).searchParams.get("next") ?? "";
    expect(["/keys", "/workspaces"]).toContain(next);
    await page.getByRole("textbox", { name: "Email address" }).fill(emailOf("owner"));
    await page.getByRole("textbox", { name: "Password" }).fill(password);
    await page.getByRole("button", { name: "Sign in", exact: true }).click();
    const heading = next === "/keys" ? "API keys" : "Workspaces";
    await page.getByRole("heading", { level: 1, name: heading }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/console${next}`);
  });

  test("the navigation shows a viewer the pages they may open, and no other", async () => {
    await expectNavigation(await pageOf(of("viewer")), "viewer");
  });

  test("a viewer sees keys and can make none", async () => {
    const page = await pageOf(of("viewer"));
    await followTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "Create key")).toBe(0);
  });

  test("somebody who is disabled is out at once", async () => {
    const page = await pageOf(of("viewer"));
    await followTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    await ada.call("users.update", { params: { user: (await idOf(of("viewer"))) ?? "" }, body: { disabled: true } });
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expect(signInAs(gateway.url, emailOf("viewer"))).rejects.toThrow("could not sign in");
  });

  test("no page breaks the content policy, throws, or loads anything from elsewhere", () => {
    expect(browser.faults).toEqual([]);
  });
});

async function enabledButtons(page: Page, name: string): Promise<number> {
  return await page.getByRole("button", { name, disabled: false }).count();
}

async function idOf(somebody: Somebody): Promise<string | undefined> {
  return (await somebody.call("session.show")).user?.id;
}

/** Refused, and as a stranger's: forbidden, or as if it were not there. */
async function refused<Id extends RouteId>(
  somebody: Somebody,
  id: Id,
  options: Parameters<typeof somebody.call<Id>>[1],
): Promise<void> {
  const thrown = await somebody.call(id, options).then(
    () => null,
    (refusal: unknown) => refusal,
  );
  expect(thrown, `${somebody.email} ${id}`).toBeInstanceOf(Refused);
  expect([403, 404], `${somebody.email} ${id}: ${String(thrown)}`).toContain((thrown as Refused).status);
}
