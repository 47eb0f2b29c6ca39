import { z } from "zod";
import { type Need, needs } from "./roles.ts";
import type { Route } from "./route.ts";
import { consoleRoutes } from "./routes.ts";

/** The tables of `docs/console-roles.md`, generated from the routes: who may make each call and see each field. */
export function rolesTable(): string {
  return [callsTable(), "", fieldsTable()].join("\n");
}

const routes: readonly [string, Route][] = Object.entries(consoleRoutes);

const shown = needs.filter((need) => need !== "public");

function callsTable(): string {
  const heads = ["call", "", ...shown.map(word), "lately"];
  const areas = Map.groupBy(routes, ([id]) => id.slice(0, id.indexOf(".")));
  const lines = [...areas].flatMap(([, calls]) =>
    calls.map(([id, { method, path, summary, needs: needed, fresh }]) => [
      `\`${id}\`<br>\`${method} ${path}\``,
      summary,
      ...shown.map((need) => (needs.indexOf(need) >= needs.indexOf(needed) ? "✓" : "")),
      needed === "public" ? "anyone" : fresh === true ? "✓" : "",
    ]),
  );
  return table(heads, lines);
}

function fieldsTable(): string {
  const lines = routes.flatMap(([id, route]) => [
    ...(route.body === undefined ? [] : needyFields(route.body, "input").map((field) => lineOf(id, "sent", field))),
    ...needyFields(route.answer, "output").map((field) => lineOf(id, "seen", field)),
  ]);
  return table(["call", "field", "", "by"], lines);
}

function lineOf(id: string, verb: string, { path, needs: needed }: NeedyField): readonly string[] {
  return [
    `\`${id}\``,
    `\`${path.join(".")}\``,
    verb,
    needed === "administrator" ? word(needed) : `${word(needed)} and above`,
  ];
}

function table(heads: readonly string[], lines: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [row(heads), row(heads.map(() => "---")), ...lines.map(row)].join("\n");
}

function word(need: Need): string {
  return need === "signed-in" ? "signed in" : need;
}

export interface NeedyField {
  /** Path of the field. `[]`: each element of a list; `*`: each value of a record. */
  readonly path: readonly string[];
  readonly needs: Need;
}

/** Fields of a schema that need a role, read from its JSON Schema. */
export function needyFields(schema: z.ZodType, io: "input" | "output"): readonly NeedyField[] {
  const found: NeedyField[] = [];
  const walk = (node: unknown, path: readonly string[]): void => {
    if (node === null || typeof node !== "object") return;
    const need = needs.find((each) => each === Reflect.get(node, "needs"));
    if (need !== undefined && path.length > 0) {
      found.push({ path, needs: need });
      return;
    }
    for (const [name, field] of Object.entries(Reflect.get(node, "properties") ?? {})) walk(field, [...path, name]);
    walk(Reflect.get(node, "items"), [...path, "[]"]);
    walk(Reflect.get(node, "additionalProperties"), [...path, "*"]);
    for (const key of ["anyOf", "oneOf", "allOf", "prefixItems"]) {
      for (const each of Reflect.get(node, key) ?? []) walk(each, path);
    }
  };
  walk(z.toJSONSchema(schema, { io, unrepresentable: "any", reused: "inline" }), []);
  return found;
}
