import { expect, test } from "bun:test";
import { providerKindSettings } from "@sluice/contract";
import { kindSettings } from "./write-provider-kinds.ts";

test("the JSON Schema of the config file lists the existing types and settings (else run write-provider-kinds.ts)", () => {
  expect(providerKindSettings as unknown).toEqual(kindSettings());
});
