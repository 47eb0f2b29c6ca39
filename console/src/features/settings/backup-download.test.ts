import { expect, test } from "bun:test";
import { nameOf } from "./backup-download.ts";

test("a backup is saved under the gateway's file name, unless that name contains a path", () => {
  const named = (disposition: string) => nameOf(new Headers({ "content-disposition": disposition }));
  expect(named('attachment; filename="sluice-2026-11-21T10-00-00.sqlite"')).toBe("sluice-2026-11-21T10-00-00.sqlite");
  for (const bad of ['attachment; filename="../../.bashrc"', 'attachment; filename=".hidden"', "attachment"]) {
    expect(named(bad)).toBe("sluice.sqlite");
  }
});
