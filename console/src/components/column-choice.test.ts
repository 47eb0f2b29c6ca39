import { expect, test } from "bun:test";
import { readChoice, shownColumns } from "./column-choice.ts";
import type { Column } from "./table-props.ts";

const column = (id: string, more: object = {}): Column<object> => ({ id, header: id, cell: () => null, ...more });
const columns = [column("name"), column("cost"), column("tokens", { optional: true }), column("do", { quiet: true })];
const shown = (choice: readonly string[] | null) => shownColumns(columns, choice).map(({ id }) => id);

test("a choice of columns is read back for its table, and malformed ones are ignored", () => {
  expect(readChoice("keys:cost,tokens,cost", "keys")).toEqual(["cost", "tokens"]);
  expect(readChoice("keys:cost,<b>", "keys")).toEqual(["cost"]);
  for (const text of [null, "", "keys", "keys:", "requests:cost", '{"cost":true}']) {
    expect(readChoice(text, "keys")).toBeNull();
  }
});

test("shows chosen columns in their order, between the name and the buttons", () => {
  expect(shown(["tokens", "cost"])).toEqual(["name", "tokens", "cost", "do"]);
  expect(shown(["tokens"])).toEqual(["name", "tokens", "do"]);
});

test("shows the default columns without a choice, or if all of its columns are gone", () => {
  for (const choice of [null, ["gone"], ["name", "do"]]) expect(shown(choice)).toEqual(["name", "cost", "do"]);
});
