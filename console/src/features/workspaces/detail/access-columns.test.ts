import { expect, test } from "bun:test";
import { differingColumns } from "./access-columns.ts";

const group = { id: "grp_1", name: "default" };
const models = ["gpt-5", "gpt-5-mini", "claude"].map((name) => ({ name, type: "chat" }));

test("models to which every key has the same access are left out, with their cells, and counted", () => {
  const columns = differingColumns(models, [
    { id: "key_1", name: "ci", group, cells: ["yes", "group_models", "yes"] },
    { id: "key_2", name: "web", group, cells: ["yes", "yes", "no_deployment"] },
  ]);
  expect(columns.models.map(({ name }) => name)).toEqual(["gpt-5-mini", "claude"]);
  expect(columns.rows.map(({ cells }) => cells)).toEqual([
    ["group_models", "yes"],
    ["yes", "no_deployment"],
  ]);
  expect(columns.hidden).toBe(1);
});

test("no model is shown if all keys have the same access or are disabled", () => {
  const columns = differingColumns(models, [
    { id: "key_1", name: "ci", group, cells: ["yes", "workspace_models", "yes"] },
    { id: "key_2", name: "web", group, cells: ["yes", "workspace_models", "yes"] },
    { id: "key_3", name: "old", group, cells: ["key_revoked", "key_revoked", "key_revoked"] },
  ]);
  expect([columns.models.length, columns.hidden]).toEqual([0, 3]);
});
