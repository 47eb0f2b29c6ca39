import { expect, test } from "bun:test";
import { version } from "./version.ts";

test("the version that is printed is the one of the package", async () => {
  const manifest = await Bun.file(new URL("../../package.json", import.meta.url)).json();
  expect(version).toBe(manifest.version);
});
