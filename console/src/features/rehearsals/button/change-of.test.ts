import { expect, test } from "bun:test";
import { rehearsedChangeSchema } from "@sluice/contract";
import { prioritiesOf } from "../../models/detail/priorities.ts";
import { groupChange, keysChange, personChange, priceChange, routeChange, workspaceChange } from "./change-of.ts";

const key = (slug: string, name: string) => ({ name, workspace: { slug } });

test("a form of limits, a budget or models becomes a change of its object", () => {
  expect(workspaceChange("acme", { limits: { rpm: 60 } })).toEqual({
    workspaces: [{ slug: "acme", limits: { rpm: 60 } }],
  });
  expect(groupChange("acme", "agents", { models: ["gpt-*"], enforce_models: true })).toEqual({
    workspaces: [{ slug: "acme", groups: [{ name: "agents", models: ["gpt-*"], enforce_models: true }] }],
  });
  expect(personChange("acme", "max@example.com", { budget: null })).toEqual({
    users: [{ email: "max@example.com", workspaces: [{ workspace: "acme", budget: null }] }],
  });
  expect(keysChange([key("acme", "ci"), key("lab", "ci"), key("acme", "web")], { models: null })).toEqual({
    workspaces: [
      { slug: "acme", keys: ["ci", "web"].map((name) => ({ name, models: null })) },
      { slug: "lab", keys: [{ name: "ci", models: null }] },
    ],
  });
});

test("fields that a rehearsal does not replay are left out", () => {
  const form = { name: "renamed", pass_through: [], capture: "all", budget: { usd: 5, period: "day" } };
  expect(keysChange([key("acme", "ci")], form as never)).toEqual({
    workspaces: [{ slug: "acme", keys: [{ name: "ci", budget: { usd: 5, period: "day" } }] }],
  });
  expect(keysChange([key("acme", "ci")], { name: "renamed" } as never)).toBeNull();
  expect(keysChange([], { limits: {} })).toBeNull();
  expect(workspaceChange("acme", {})).toBeNull();
  expect(priceChange("gpt-5", undefined)).toBeNull();
  expect(routeChange({ name: "gpt-5", priorities: null, fallbacks: null })).toBeNull();
});

test("deployments and fallbacks become a change that the gateway accepts", () => {
  const deployment = { provider: "lab", upstream_model: "gpt-5", priority: 2, weight: 10, enabled: false };
  const priorities = prioritiesOf([{ ...deployment, capabilities: null } as never]);
  const change = routeChange({ name: "gpt-5", priorities, fallbacks: ["backup"] });
  expect(change).toEqual({ models: [{ name: "gpt-5", deployments: [deployment], fallbacks: ["backup"] }] });
  expect(rehearsedChangeSchema.safeParse(change).success).toBe(true);
  expect(routeChange({ name: "gpt-5", priorities: null, fallbacks: [] })).toEqual({
    models: [{ name: "gpt-5", fallbacks: [] }],
  });
});
