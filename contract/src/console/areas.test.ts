import { expect, test } from "bun:test";
import { adminAreas } from "./areas.ts";
import { consoleRoutes } from "./routes.ts";

test("the areas of the admin API match its routes", () => {
  const areas = new Set(Object.values(consoleRoutes).map(({ path }) => path.split("/")[2] ?? ""));
  expect([...adminAreas]).toEqual([...areas].sort());
});
