import { describe, expect, test } from "bun:test";
import { busy, deployment, limited, model, routingFixture, unhealthy } from "./routing-fixture.ts";
import { seededChance } from "./seeded-chance.ts";
import { runTraffic, type TrafficReport, type Upstream } from "./traffic.ts";

const seeds = [1, 2, 3, 4, 5];
const three = [model("m", [deployment("a"), deployment("b"), deployment("c")])];
const healthy = { latencyMs: 20, failure: null };

const hitsOn = (report: TrafficReport, id: string) => report.hits.filter((hit) => hit.deploymentId === id);

const firstOf = (changes: readonly { readonly id: string; readonly atMs: number }[], id: string) =>
  changes.find((change) => change.id === id)?.atMs ?? Number.NaN;

function run(seed: number, models: typeof three, upstream: Upstream, seconds: number, callsPerSecond = 50) {
  const fixture = routingFixture(seed);
  const report = runTraffic({ fixture, models, upstream, chance: seededChance(seed + 1_000), callsPerSecond, seconds });
  for (const { inFlight } of fixture.router.states()) expect(inFlight).toBe(0);
  return { fixture, report };
}

describe.each(seeds)("routing, seed %i", (seed) => {
  test("stops using one failing deployment of three after 5 failures, sends it less than 1 % of the traffic, and answers every call", () => {
    const bad: Upstream = (id) => (id === "a" ? { latencyMs: 1, failure: unhealthy() } : healthy);
    const { fixture, report } = run(seed, three, bad, 120);
    const hits = hitsOn(report, "a");
    const openedMs = fixture.changes[0]?.atMs ?? Number.NaN;
    expect(hits.filter(({ endMs }) => endMs <= openedMs).length).toBe(5);
    expect(hits.filter(({ atMs }) => atMs > openedMs && atMs < openedMs + 30_000)).toEqual([]);
    const later = report.hits.filter(({ atMs }) => atMs > openedMs);
    const share = later.filter(({ deploymentId }) => deploymentId === "a").length / later.length;
    expect(share).toBeLessThan(0.01);
    expect(report.succeeded).toBe(report.calls);
    expect(fixture.changes.every(({ id }) => id === "a")).toBe(true);
  });

  test("returns the traffic of a recovered deployment in steps, within 30 s after its breaker closed", () => {
    const recoveredMs = 5_000;
    const failingFirst: Upstream = (id, atMs) =>
      id === "a" && atMs < recoveredMs ? { latencyMs: 1, failure: unhealthy() } : healthy;
    const { fixture, report } = run(seed, three, failingFirst, 120);
    expect(fixture.changes.map(({ state }) => state)).toEqual(["open", "half-open", "closed"]);
    const closedMs = fixture.changes[2]?.atMs ?? Number.NaN;
    const share = (fromMs: number, toMs: number): number => {
      const hits = report.hits.filter(({ atMs }) => atMs > closedMs + fromMs && atMs <= closedMs + toMs);
      return hits.filter(({ deploymentId }) => deploymentId === "a").length / hits.length;
    };
    expect(share(0, 6_000)).toBeLessThan(0.1);
    expect(share(12_000, 18_000)).toBeLessThan(0.22);
    expect(share(30_000, 60_000)).toBeGreaterThan(0.28);
    expect(report.succeeded).toBe(report.calls);
  });

  test("never stops using the last deployment, so that calls succeed once it is up", () => {
    const upMs = 30_000;
    const down: Upstream = (_, atMs) => (atMs < upMs ? { latencyMs: 5, failure: unhealthy() } : healthy);
    const { report } = run(seed, [model("m", [deployment("a")])], down, 60);
    expect(report.hits.length).toBeGreaterThanOrEqual(report.calls);
    expect(report.hits.filter(({ atMs, failed }) => atMs >= upMs && failed)).toEqual([]);
    expect(report.succeeded).toBe(report.hits.filter(({ failed }) => !failed).length);
  });

  test.each([5, 3_000])(
    "sends upstreams at most 1.1 attempts per call after everything has failed for %i ms",
    (latencyMs) => {
      const all = [...three, model("fallback", [deployment("d"), deployment("e")])];
      const { fixture, report } = run(seed, all, () => ({ latencyMs, failure: unhealthy() }), 60);
      expect(report.succeeded).toBe(0);
      const opened = fixture.changes.filter(({ state }) => state === "open");
      const allOpenMs = Math.max(...all.flatMap(({ deployments }) => deployments).map(({ id }) => firstOf(opened, id)));
      const later = report.hits.filter(({ atMs }) => atMs > allOpenMs + latencyMs);
      expect(later.length).toBeLessThanOrEqual(1.1 * 50 * (60 - allOpenMs / 1_000));
    },
  );

  test("rarely calls accounts at their limit while another one is free, and serves every call", () => {
    const upstream: Upstream = (id) => (id === "c" ? healthy : { latencyMs: 5, failure: limited() });
    const { report } = run(seed, three, upstream, 120);
    expect(report.succeeded).toBe(report.calls);
    for (const id of ["a", "b"]) expect(hitsOn(report, id).length).toBeLessThan(20);
  });

  test("returns the traffic of an account within 31 s after its limit", () => {
    const limitEndsMs = 40_000;
    const upstream: Upstream = (id, atMs) =>
      id === "a" && atMs < limitEndsMs ? { latencyMs: 5, failure: limited() } : healthy;
    const { report } = run(seed, three, upstream, 100);
    const later = report.hits.filter(({ atMs }) => atMs > limitEndsMs + 31_000);
    expect(later.filter(({ deploymentId }) => deploymentId === "a").length / later.length).toBeGreaterThan(0.25);
  });

  test("does not call an upstream during its Retry-After while another one is healthy", () => {
    const limited: Upstream = (id) => (id === "a" ? { latencyMs: 5, failure: busy(2_000) } : healthy);
    const { report } = run(seed, three, limited, 30);
    const refusals = hitsOn(report, "a").map(({ atMs }) => atMs);
    const bursts = refusals.filter((atMs, index) => index === 0 || atMs - (refusals[index - 1] ?? 0) > 5);
    for (let burst = 1; burst < bursts.length; burst++) {
      expect((bursts[burst] ?? 0) - (bursts[burst - 1] ?? 0)).toBeGreaterThanOrEqual(2_000);
    }
    expect(report.succeeded).toBe(report.calls);
  });

  test("gives the same result for the same seed", () => {
    const flaky = () => {
      const chance = seededChance(seed);
      const upstream: Upstream = () => ({
        latencyMs: 50 * chance.unit(),
        failure: chance.unit() < 0.4 ? unhealthy() : null,
      });
      return run(seed, three, upstream, 20).report.hits;
    };
    expect(flaky()).toEqual(flaky());
  });
});
