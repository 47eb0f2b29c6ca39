import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { meets, type Need, type RouteId, type WorkspaceRole, workspaceRoles } from "@sluice/contract";
import type { Page } from "playwright-core";
import { visibleGroups } from "../src/shell/page-list.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { navigateTo } from "./populated/all-pages.ts";
import { password, Refused, type SignedInUser, signInAs } from "./signed-in-user.ts";

const emailOf = (role: WorkspaceRole) => `${role}@example.com`;

/** The tests depend on their order: the first one creates the users of the others. */
describe.skipIf(noBrowser !== null)("permissions of each role in the console", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;
  let aKey = "";
  const people = new Map<WorkspaceRole, SignedInUser>();

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
    await ada.call("workspaces.create", { body: { slug: "other", name: "Other" } });
    const made = await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "made by ada" } });
    aKey = made.key.id;
  });

  afterAll(() => opened?.stop());

  function of(role: WorkspaceRole): SignedInUser {
    const user = people.get(role);
    if (user === undefined) throw new Error(`The ${role} has not joined`);
    return user;
  }

  /** Consecutive tests of a user share a page, so that the app is loaded once per user. */
  let shown: { readonly user: SignedInUser; readonly page: Page } | null = null;

  async function pageOf(user: SignedInUser): Promise<Page> {
    if (shown?.user === user) return shown.page;
    await browser.leave();
    const page = await user.page(browser);
    shown = { user, page };
    return page;
  }

  async function expectNavigation(page: Page, held: Need): Promise<void> {
    await navigateTo(page, "/console/");
    const links = page.getByRole("navigation", { name: "Pages" }).getByRole("link");
    await links.first().waitFor();
    const allowed = visibleGroups((need) => meets(held, need), true).flatMap(({ pages }) =>
      pages.map(({ label }) => label),
    );
    expect(await links.allTextContents(), held).toEqual(allowed);
  }

  test("an administrator invites a user, who joins with the link and a new password", async () => {
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
      people.set(role, await signInAs(opened.gateway.url, emailOf(role)));
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

  test("the API refuses actions that the pages do not show", async () => {
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

  test("the navigation shows a member only the pages that they may open", async () => {
    await expectNavigation(await pageOf(of("member")), "member");
  });

  test("a member can create keys, but not revoke the keys of others", async () => {
    const page = await pageOf(of("member"));
    await navigateTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "Create key")).toBeGreaterThan(0);
    await navigateTo(page, `/console/keys/${aKey}`);
    await page.getByRole("heading", { level: 1, name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "More actions")).toBe(0);
  });

  test("a member can change their own key, but rehearse nothing", async () => {
    const params = { workspace: "acme" };
    const owner = (await idOf(of("member"))) ?? "";
    const { key } = await of("member").call("keys.create", { params, body: { name: "own", owner } });
    const page = await pageOf(of("member"));
    await navigateTo(page, `/console/keys/${key.id}?edit=1`);
    const form = page.getByRole("dialog");
    await form.getByRole("button", { name: "Save key" }).waitFor();
    expect(await form.getByRole("button", { name: "Rehearse" }).count()).toBe(0);
    await form.getByRole("button", { name: "Cancel" }).click();
    await ada.call("keys.revoke", { params: { ...params, key: key.id } });
  });

  test("a leaving member can transfer their keys, except keys that spend in their name", async () => {
    const acme = { params: { workspace: "acme" } };
    const me = (await ada.call("members.list", acme)).data.find(({ email }) => email === emailOf("member"));
    const made = await of("member").call("keys.create", { ...acme, body: { name: "mine", owner: me?.id ?? "" } });
    const page = await pageOf(of("member"));
    await navigateTo(page, "/console/workspaces/acme?tab=members");
    await page.getByRole("button", { name: "Leave" }).click();
    const transfer = page.getByRole("dialog").getByRole("radio", { name: /^Transfer/ });
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
    await navigateTo(page, "/console/workspaces/acme?tab=members");
    await page.getByRole("row", { name: /owner@example.com/ }).waitFor();
    expect(await enabledButtons(page, "Invite member")).toBe(buttons);
  });

  test("the navigation shows an admin only the pages that they may open", async () => {
    await expectNavigation(await pageOf(of("admin")), "admin");
  });

  test("an admin cannot invite users to another workspace", async () => {
    await refused(of("admin"), "invitations.create", {
      params: { workspace: "other" },
      body: { email: "new@example.com", role: "viewer" },
    });
  });

  test("the navigation shows an owner only the pages that they may open", async () => {
    await expectNavigation(await pageOf(of("owner")), "owner");
  });

  test("a forbidden page explains that when its URL is opened", async () => {
    const page = await pageOf(of("owner"));
    await page.goto("/console/providers");
    await page.getByText("For administrators").waitFor();
    expect(await page.getByRole("button", { name: "Add provider" }).count()).toBe(0);
    // The only settings of a user without more rights are their admin tokens.
    await navigateTo(page, "/console/settings?tab=users");
    await page.getByRole("heading", { level: 2, name: "Admin tokens" }).waitFor();
    expect(await page.getByRole("tab").count()).toBe(0);
    expect(await page.getByRole("button", { name: /Invite|Save/ }).count()).toBe(0);
    // The page shows the translated name of the role.
    await navigateTo(page, "/console/profile");
    await page.getByRole("cell", { name: "Owner", exact: true }).waitFor();
  });

  test("after the session was ended elsewhere, the sign-in page opens and then returns to the page", async () => {
    const page = await pageOf(of("owner"));
    await navigateTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    const elsewhere = await signInAs(opened.gateway.url, emailOf("owner"));
    const ended = await elsewhere.send("/api/auth/sessions/end-others", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect(ended.status).toBe(200);
    // A background request may detect this first; then the link is gone before it can be clicked.
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

  test("the navigation shows a viewer only the pages that they may open", async () => {
    await expectNavigation(await pageOf(of("viewer")), "viewer");
  });

  test("a viewer sees keys but cannot create any", async () => {
    const page = await pageOf(of("viewer"));
    await navigateTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    expect(await enabledButtons(page, "Create key")).toBe(0);
  });

  test("a disabled user is signed out immediately", async () => {
    const page = await pageOf(of("viewer"));
    await navigateTo(page, "/console/keys");
    await page.getByRole("link", { name: "made by ada" }).waitFor();
    await ada.call("users.update", { params: { user: (await idOf(of("viewer"))) ?? "" }, body: { disabled: true } });
    await page.reload();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await expect(signInAs(opened.gateway.url, emailOf("viewer"))).rejects.toThrow("could not sign in");
  });

  test("no page violates the content security policy, throws, or loads from other origins", () => {
    expect(browser.faults).toEqual([]);
  });
});

async function enabledButtons(page: Page, name: string): Promise<number> {
  return await page.getByRole("button", { name, disabled: false }).count();
}

async function idOf(user: SignedInUser): Promise<string | undefined> {
  return (await user.call("session.show")).user?.id;
}

/** Expects that the call is refused with 403 or 404. */
async function refused<Id extends RouteId>(
  user: SignedInUser,
  id: Id,
  options: Parameters<typeof user.call<Id>>[1],
): Promise<void> {
  const thrown = await user.call(id, options).then(
    () => null,
    (refusal: unknown) => refusal,
  );
  expect(thrown, `${user.email} ${id}`).toBeInstanceOf(Refused);
  expect([403, 404], `${user.email} ${id}: ${String(thrown)}`).toContain((thrown as Refused).status);
}
