import { expect, test } from "bun:test";
import type { SessionAnswer } from "@sluice/contract";
import { heldIn } from "./session-context.tsx";
import { chosenSlug } from "./workspace.ts";

const answer = (administrator: boolean, workspaces: SessionAnswer["workspaces"]): SessionAnswer => ({
  user: { id: "u", email: "ada@example.com", name: "Ada", administrator, language: null },
  via: "session",
  fresh: true,
  workspaces,
  methods: { password: true, passkey: true, oidc: [] },
  setup_needed: false,
  version: "1",
  demo: false,
  public_url: "http://localhost",
  brand: { name: "Sluice", accent: "", logo: "" },
  announcement: "",
  media: false,
  first_steps: { provider: true, model: true, key: true, call: true },
});
const acme = { id: "ws_1", slug: "acme", name: "Acme", role: "viewer" } as const;
const labs = { id: "ws_2", slug: "labs", name: "Labs", role: "admin" } as const;

test("a role applies in its own workspace only, the highest if none is named; administrators have every role everywhere", () => {
  const ada = answer(false, [acme, labs]);
  expect([heldIn(ada, "acme"), heldIn(ada, "ws_2"), heldIn(ada, "other"), heldIn(ada, null)]).toEqual([
    "viewer",
    "admin",
    "signed-in",
    "admin",
  ]);
  expect(heldIn(answer(true, []), "other")).toBe("administrator");
  expect(heldIn({ ...ada, user: null }, null)).toBe("public");
});

test("members get their own workspace for another's URL; administrators may open any workspace or all", () => {
  const ada = answer(false, [acme, labs]);
  expect([chosenSlug(ada, "labs"), chosenSlug(ada, "ws_2"), chosenSlug(ada, "other"), chosenSlug(ada, "")]).toEqual([
    "labs",
    "labs",
    "acme",
    "acme",
  ]);
  expect([chosenSlug(ada, "", "labs"), chosenSlug(ada, "acme", "labs"), chosenSlug(ada, "-", "labs")]).toEqual([
    "labs",
    "acme",
    "acme",
  ]);
  expect([chosenSlug(answer(true, []), ""), chosenSlug(answer(true, []), "other")]).toEqual([null, "other"]);
  expect(chosenSlug(answer(false, []), "acme")).toBeNull();
});

test("administrators get the workspace that they chose last if it still exists, and the only one without a choice", () => {
  const ada = answer(true, [acme, labs]);
  expect([chosenSlug(ada, "", "labs"), chosenSlug(ada, "", "deleted"), chosenSlug(ada, "-", "labs")]).toEqual([
    "labs",
    null,
    null,
  ]);
  expect([chosenSlug(answer(true, [acme]), ""), chosenSlug(answer(true, [acme]), "-")]).toEqual(["acme", "acme"]);
});
