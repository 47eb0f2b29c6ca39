import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import type { Locator } from "playwright-core";
import { accessibilityViolations } from "./accessibility.ts";
import { noBrowser, type OpenedBrowser } from "./opened-browser.ts";
import { type OpenedConsole, openConsole } from "./opened-console.ts";
import { password, type SignedInUser, signInAs } from "./signed-in-user.ts";

interface Leaver {
  readonly id: string;
  readonly email: string;
  readonly user: SignedInUser;
  /** Key ids by name. */
  readonly keys: ReadonlyMap<string, string>;
}

describe.skipIf(noBrowser !== null)("a person who leaves", () => {
  let opened: OpenedConsole;
  let browser: OpenedBrowser;
  let ada: SignedInUser;

  beforeAll(async () => {
    opened = await openConsole();
    ({ ada, browser } = opened);
    await ada.call("workspaces.create", { body: { slug: "acme", name: "Acme" } });
    await ada.call("workspaces.create", { body: { slug: "other", name: "Other" } });
    await ada.call("keys.create", { params: { workspace: "acme" }, body: { name: "of ada" } });
  });

  afterEach(() => browser?.leave());
  afterAll(() => opened?.stop());

  /** A member of both workspaces with a key that they created, one that they own, both, and one elsewhere. */
  async function joined(name: string): Promise<Leaver> {
    const email = `${name}@example.com`;
    const acme = { workspace: "acme" };
    const { link } = await ada.call("invitations.create", { params: acme, body: { email, role: "member" } });
    const token = link.slice(link.indexOf("=") + 1);
    await ada.call("invitation.accept", { body: { token, name, password } });
    const { data } = await ada.call("users.list", { query: { search: email } });
    const id = data[0]?.id ?? "";
    await ada.call("members.update", { params: { workspace: "other", user: id }, body: { role: "member" } });
    const user = await signInAs(opened.gateway.url, email);
    const made = [
      await user.call("keys.create", { params: acme, body: { name: `${name} created` } }),
      await ada.call("keys.create", { params: acme, body: { name: `${name} owns`, owner: id } }),
      await user.call("keys.create", { params: acme, body: { name: `${name} both`, owner: id } }),
      await user.call("keys.create", { params: { workspace: "other" }, body: { name: `${name} elsewhere` } }),
    ];
    return { id, email, user, keys: new Map(made.map(({ key }) => [key.name, key.id])) };
  }

  /** The state of every key of the installation, by name. */
  async function states(): Promise<Record<string, string>> {
    const { data } = await ada.call("keys.list", { params: { workspace: "-" } });
    return Object.fromEntries(data.map(({ name, state }) => [name, state]));
  }

  const shownIn = (dialog: Locator) => dialog.locator(".leaver-key .cut").allTextContents();

  test("keeps, disables and revokes exactly the keys that the dialog shows, and nothing before each has a choice", async () => {
    const bob = await joined("bob");
    const before = await states();
    const page = await ada.page(browser);
    await page.goto("/console/settings?tab=users");
    await page.getByRole("button", { name: `Actions for ${bob.email}` }).click();
    await page.getByRole("menuitem", { name: "Disable" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("4 API keys").waitFor();
    expect((await shownIn(dialog)).toSorted()).toEqual([...bob.keys.keys()].toSorted());
    const confirm = dialog.getByRole("button", { name: "Disable", exact: true });
    expect(await dialog.getByRole("radio", { checked: true }).count()).toBe(0);
    expect(await confirm.isDisabled()).toBe(true);
    await page.getByRole("menu").waitFor({ state: "detached" });
    expect(await accessibilityViolations(page)).toEqual([]);

    await dialog.getByLabel("Decision for bob created").selectOption("Revoke");
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByRole("radio", { name: "Disable all 4 keys" }).check();
    await dialog.getByLabel("Decision for bob created").selectOption("Revoke");
    await dialog.getByLabel("Decision for bob elsewhere").selectOption("Transfer");
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel("New owner in other").click();
    // Only ada could take it, who is no member of that workspace.
    await page.getByText("No other member can create keys here").waitFor();
    await page.keyboard.press("Escape");
    await dialog.getByLabel("Decision for bob elsewhere").selectOption("Disable");
    await confirm.click();
    await dialog.waitFor({ state: "hidden" });
    expect(await states()).toEqual({
      ...before,
      "bob created": "revoked",
      "bob owns": "disabled",
      "bob both": "disabled",
      "bob elsewhere": "disabled",
    });
    expect(browser.faults).toEqual([]);
  });

  test("shows the keys again when the person has another one by then, and changes nothing", async () => {
    const carol = await joined("carol");
    const page = await ada.page(browser);
    await page.goto("/console/workspaces/acme?tab=members");
    await page.getByRole("row", { name: carol.email }).getByRole("button", { name: "Remove" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Revoke all 3 keys" }).check();
    await carol.user.call("keys.create", { params: { workspace: "acme" }, body: { name: "carol's latest" } });
    const before = await states();
    const confirm = dialog.getByRole("button", { name: "Remove member" });
    await confirm.click();
    await dialog.getByText("carol's latest").waitFor();
    expect(await confirm.isDisabled()).toBe(true);
    expect(await states()).toEqual(before);
    await dialog.getByRole("radio", { name: "Revoke all 4 keys" }).check();
    await confirm.click();
    await dialog.waitFor({ state: "hidden" });
    const after = await states();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(changed.toSorted()).toEqual(["carol both", "carol created", "carol owns", "carol's latest"]);
  });

  test("is offboarded in three clicks from their page, which shows their keys, made or owned", async () => {
    const dan = await joined("dan");
    const page = await ada.page(browser);
    await page.goto("/console/settings?tab=users");
    await page.getByRole("link", { name: "dan" }).click();
    await page.getByRole("heading", { level: 1, name: "dan" }).waitFor();
    const keys = page.getByRole("table", { name: "API keys" });
    for (const [name, relation] of [
      ["dan created", "Created"],
      ["dan owns", "Owned"],
      ["dan both", "Created and owned"],
      ["dan elsewhere", "Created"],
    ] as const) {
      await keys.getByRole("row", { name }).getByText(relation, { exact: true }).waitFor();
    }
    expect(await accessibilityViolations(page)).toEqual([]);
    const before = await states();
    // Offboard, one choice for all keys, confirm.
    await page.getByRole("button", { name: "Offboard" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("radio", { name: "Disable all 4 keys" }).check();
    await dialog.getByRole("button", { name: "Disable account" }).click();
    await page.getByText("dan was offboarded").waitFor();
    const after = await states();
    const changed = Object.keys(after).filter((name) => after[name] !== before[name]);
    expect(changed.toSorted()).toEqual([...dan.keys.keys()].toSorted());
    expect(new Set(changed.map((name) => after[name]))).toEqual(new Set(["disabled"]));
    await page.getByRole("button", { name: "Enable account" }).waitFor();
    expect((await ada.call("users.list", { query: { search: dan.email } })).data).toMatchObject([{ disabled: true }]);
    expect(browser.faults).toEqual([]);
  });

  test("can be removed only from their own workspace by its admin, who sees only its part of the person", async () => {
    const eve = await joined("eve");
    const frank = await joined("frank");
    await ada.call("members.update", { params: { workspace: "acme", user: frank.id }, body: { role: "admin" } });
    const admin = await signInAs(opened.gateway.url, frank.email);
    const page = await admin.page(browser);
    await page.goto(`/console/people/${eve.id}?workspace=acme`);
    await page.getByRole("table", { name: "API keys" }).getByRole("row", { name: "eve owns" }).waitFor();
    expect(await page.getByText("eve elsewhere").count()).toBe(0);
    expect(await page.getByRole("heading", { name: "Sign-in" }).count()).toBe(0);
    await page.getByRole("button", { name: "Offboard" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByRole("radio", { name: /account/ }).count()).toBe(0);
    await dialog.getByRole("radio", { name: "Revoke all 3 keys" }).check();
    await dialog.getByRole("button", { name: "Remove from workspace" }).click();
    await page.getByText("eve was offboarded").waitFor();
    const after = await states();
    expect(after["eve elsewhere"]).toBe("active");
    expect([after["eve created"], after["eve owns"], after["eve both"]]).toEqual(["revoked", "revoked", "revoked"]);
  });
});
