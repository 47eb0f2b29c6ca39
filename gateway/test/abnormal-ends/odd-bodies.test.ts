import { afterAll, beforeAll, expect, test } from "bun:test";
import { type StartedGateway, startGateway } from "../started-gateway.ts";
import { callerCases, dialectGateway, settle, upstreamCases } from "./dialect-fixture.ts";
import { richBodies } from "./rich-bodies.ts";

let gateway: StartedGateway;
beforeAll(async () => {
  gateway = await startGateway(
    dialectGateway([], { groups: [{ name: "default", limits: { concurrency: 1_000, rpm: 1_000_000 } }] }),
  );
});
afterAll(() => gateway.stop());

const oddities: readonly unknown[] = [
  null,
  0,
  -1,
  1e300,
  "",
  "x",
  true,
  [],
  {},
  [null],
  [{}],
  { type: "x" },
  { toString: {} },
  [{ toString: {} }],
  "\u0000\ud800",
  "__proto__",
];
const perPlace = 5;
const atOnce = 40;

type Path = readonly (string | number)[];

/** Every path in a JSON value below its root. */
function* placesIn(value: unknown, at: Path = []): Generator<Path> {
  if (at.length > 0) yield at;
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    yield* placesIn(inner, [...at, Array.isArray(value) ? Number(name) : name]);
  }
}

function replaced(value: unknown, [name, ...rest]: Path, oddity: unknown): unknown {
  if (name === undefined) return oddity;
  if (Array.isArray(value))
    return value.map((inner, index) => (index === name ? replaced(inner, rest, oddity) : inner));
  const object = value as Readonly<Record<string, unknown>>;
  return { ...object, [name]: replaced(object[name], rest, oddity) };
}

test.each(callerCases.map((caller) => [caller.id, caller] as const))(
  "any value at any place in a body of %s is understood or rejected as invalid, on every upstream",
  async (id, caller) => {
    const body = richBodies[id] ?? {};
    let turn = 0;
    const tries = [...placesIn(body)].flatMap((place) =>
      Array.from({ length: perPlace }, () => {
        const oddity = oddities[turn++ % oddities.length];
        return { place, oddity, upstream: upstreamCases[turn % upstreamCases.length], stream: turn % 3 === 0 };
      }),
    );
    for (let from = 0; from < tries.length; from += atOnce) {
      const answers = tries.slice(from, from + atOnce).map(async ({ place, oddity, upstream, stream }) => {
        const more = replaced(body, place, oddity) as Readonly<Record<string, unknown>>;
        const response = await caller.call(gateway, `on-${upstream?.id}`, { more, stream });
        return { place, oddity, on: upstream?.id, ok: response.status < 500, text: await response.text() };
      });
      expect((await Promise.all(answers)).filter(({ ok }) => !ok)).toEqual([]);
    }
    await settle(gateway);
    expect(gateway.gateway.outstanding()).toBe(0);
  },
);
