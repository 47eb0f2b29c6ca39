import { expect, test } from "bun:test";
import { providerOf } from "../../test/provider-fixture.ts";
import { mayFetch } from "./settings.ts";

const may = (allowPrivateNetwork: boolean, said?: boolean): boolean =>
  mayFetch({
    ...providerOf("openai-compatible", { settings: said === undefined ? {} : { fetches_urls: said } }),
    allowPrivateNetwork,
  });

test("lets an upstream fetch URLs unless it is in a private network or `fetches_urls` overrides this", () => {
  expect([may(false), may(true)]).toEqual([true, false]);
  expect([may(false, false), may(true, true)]).toEqual([false, true]);
});
