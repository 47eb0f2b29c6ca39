import { expect, test } from "bun:test";
import { consoleRoutes, type Route, type RouteId } from "@sluice/contract";
import { openConsoleFixture } from "../console-fixture.ts";
import { sampleOf } from "../schema-sample.ts";

const routes = Object.entries(consoleRoutes) as [RouteId, Route][];

/** Copies of a value, each with another one of its texts changed, and the path of that text. */
function* changedTexts(
  value: unknown,
  suffix: string,
  path = "",
): Generator<readonly [changed: unknown, path: string]> {
  if (typeof value === "string") yield [`${value}${suffix}`, path];
  if (typeof value !== "object" || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const [changed, at] of changedTexts(member, suffix, path === "" ? name : `${path}.${name}`)) {
      yield [Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }, at];
    }
  }
}

async function* answersTo(suffix: string, accepts: (path: string) => boolean) {
  await using fixture = await openConsoleFixture(() => ({}) as never);
  for (const [id, route] of routes) {
    const names = [...route.path.matchAll(/\{([a-z]+)\}/g)].map((match) => match[1] ?? "");
    const params = Object.fromEntries(names.map((name) => [name, name === "workspace" ? "acme" : "sample"]));
    for (const part of ["body", "query"] as const) {
      const schema = route[part];
      if (schema === undefined) continue;
      for (const [changed, path] of changedTexts(sampleOf(schema, "full"), suffix)) {
        if (!accepts(path)) continue;
        const sample = route.body === undefined ? {} : { body: sampleOf(route.body, "least") };
        const answer = await fixture.call("administrator", id, { params, ...sample, [part]: changed } as never);
        yield { field: `${id} ${path}`, path, answer };
      }
    }
  }
}

test("refuses a NUL character in any text of any call, and names the field", async () => {
  let fields = 0;
  for await (const { field, path, answer } of answersTo("\0", () => true)) {
    fields++;
    expect([field, answer.status, answer.param]).toEqual([field, 400, path]);
    expect(answer.body.error.message).toContain("must not contain control characters");
  }
  expect(fields).toBeGreaterThan(200);
});

test("refuses line breaks in names, slugs and tags", async () => {
  let fields = 0;
  const isName = (path: string) => /(?:^|\.)(?:name|slug|tags\.[^.]+)$/.test(path);
  for await (const { field, answer } of answersTo("\nx", isName)) {
    fields++;
    expect([field, answer.status]).toEqual([field, 400]);
  }
  expect(fields).toBeGreaterThan(10);
});
