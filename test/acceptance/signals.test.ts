import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { until } from "../until.ts";
import { chat } from "./chat-call.ts";
import { type NpmStarted, npmStart, type Receiver } from "./npm-start.ts";
import { startGateway } from "./start-gateway.ts";
import { type SimulatorProcess, startSimulator } from "./start-simulator.ts";
import { testConfig } from "./test-config.ts";

/** The processes that npm starts are found in /proc. */
const linux = process.platform === "linux";
if (!linux) console.warn("skipped: how `npm start` ends is tested on Linux only");

let simulator: SimulatorProcess;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator?.stop());

/** Starts a stream of one or two seconds. */
async function stream(
  url: string,
  script = { tokens: 100, event_ms: 15 },
): Promise<{ readonly text: Promise<string> }> {
  const answer = await chat(url, { stream: true, script });
  expect(answer.status).toBe(200);
  return { text: answer.text() };
}

const times = (text: string, part: string): number => text.split(part).length - 1;
const drained = "shutdown complete";
const refusing = "draining: refusing new calls";

describe.concurrent("a gateway that is stopped", () => {
  test.skipIf(!linux).each<[NodeJS.Signals, Receiver, number]>([
    ["SIGTERM", "npm", 1],
    ["SIGTERM", "launcher", 1],
    ["SIGTERM", "gateway", 1],
    ["SIGTERM", "group", 1],
    ["SIGINT", "npm", 1],
    ["SIGINT", "group", 1],
    ["SIGINT", "group", 2],
  ])(
    "under npm start, %s to the %s (%i times) completes the stream, drains once, exits with 0 and leaves no process",
    async (signal, receiver, sent) => {
      const started = await npmStart("start", testConfig(simulator.url));
      try {
        const { text } = await stream(started.url);
        for (let count = 0; count < sent; count++) started.send(signal, receiver);
        expect(await text).toEndWith("data: [DONE]\n\n");
        expect(await started.exited).toBe(0);
        await started.allExited();
        expect(times(started.output(), refusing)).toBe(1);
        expect(times(started.output(), drained)).toBe(1);
      } finally {
        await started.remove();
      }
    },
  );

  test.skipIf(!linux).each<[NodeJS.Signals, Receiver]>([
    ["SIGKILL", "npm"],
    ["SIGHUP", "npm"],
    ["SIGKILL", "launcher"],
  ])(
    "under npm start, %s to the %s, which cannot be forwarded, still drains the gateway and leaves no process",
    async (signal, receiver) => {
      const started = await npmStart("start", testConfig(simulator.url));
      try {
        const { text } = await stream(started.url);
        started.send(signal, receiver);
        expect(await text).toEndWith("data: [DONE]\n\n");
        await started.allExited();
        expect(times(started.output(), drained)).toBe(1);
      } finally {
        await started.remove();
      }
    },
  );

  test.skipIf(!linux)(
    "under npm start, SIGHUP to the launcher or the gateway reloads the config file and stops nothing",
    async () => {
      const started = await npmStart("start", testConfig(simulator.url));
      const reloads = (): number => times(started.output(), "configuration reloaded");
      try {
        for (const [count, receiver] of (["launcher", "gateway"] as const).entries()) {
          started.send("SIGHUP", receiver);
          await until(() => (reloads() > count ? true : null));
        }
        expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
        started.send("SIGTERM", "npm");
        expect(await started.exited).toBe(0);
      } finally {
        await started.remove();
      }
    },
  );

  const demoFolders = (started: NpmStarted): string[] =>
    readdirSync(join(started.folder, "tmp")).filter((name) => name.startsWith("sluice-demo-"));

  test.skipIf(!linux).each<[NodeJS.Signals, Receiver]>([
    ["SIGTERM", "npm"],
    ["SIGINT", "group"],
    ["SIGHUP", "group"],
    ["SIGKILL", "launcher"],
  ])("npm run demo removes its folder after %s to the %s", async (signal, receiver) => {
    const started = await npmStart("demo", null);
    try {
      expect(demoFolders(started)).toHaveLength(1);
      started.send(signal, receiver);
      await started.allExited();
      expect(demoFolders(started)).toEqual([]);
    } finally {
      await started.remove();
    }
  });

  test.skipIf(!linux)("a demo that is killed leaves no master key on disk", async () => {
    const started = await npmStart("demo", null);
    try {
      started.send("SIGKILL", "gateway");
      await started.allExited();
      const [folder = ""] = demoFolders(started);
      expect(existsSync(join(started.folder, "tmp", folder, "sluice.db"))).toBe(true);
      expect(existsSync(join(started.folder, "tmp", folder, "master.key"))).toBe(false);
    } finally {
      await started.remove();
    }
  });

  test("a second, later signal ends streams with an error at once, and the exit status is still 0", async () => {
    const gateway = await startGateway({ config: testConfig(simulator.url) });
    try {
      const { text } = await stream(gateway.url, { tokens: 5_000, event_ms: 50 });
      const exited = gateway.stop();
      let hasEnded = false;
      void exited.then(() => {
        hasEnded = true;
      });
      // Signals soon after the first one are ignored, so repeat it until it has an effect.
      await until(async () => {
        if (!hasEnded) process.kill(gateway.pid(), "SIGTERM");
        return hasEnded ? true : null;
      });
      expect(await exited).toBe(0);
      expect(await text).toContain('"draining"');
      expect(gateway.output()).toContain('"forced":true');
    } finally {
      await gateway.remove();
    }
  });

  test("closes its port, so that proxies send new calls elsewhere, and completes running calls", async () => {
    const gateway = await startGateway({ config: testConfig(simulator.url) });
    try {
      const { text } = await stream(gateway.url, { tokens: 400, event_ms: 15 });
      const exited = gateway.stop();
      await until(() =>
        fetch(`${gateway.url}/healthz`).then(
          () => null,
          ({ code }: { readonly code?: string }) => /refused$/i.test(code ?? ""),
        ),
      );
      expect(await text).toEndWith("data: [DONE]\n\n");
      expect(await exited).toBe(0);
    } finally {
      await gateway.remove();
    }
  });

  test("after SIGTERM, readiness fails first while calls are still accepted, each as the last of its connection", async () => {
    const gateway = await startGateway({
      config: testConfig(simulator.url),
      env: { SLUICE_DRAIN_GRACE_MS: "300000" },
    });
    try {
      const exited = gateway.stop();
      await until(async () => ((await fetch(`${gateway.url}/readyz`)).status === 503 ? true : null));
      expect((await fetch(`${gateway.url}/healthz`)).status).toBe(200);
      expect((await chat(gateway.url, {})).status).toBe(200);
      expect((await fetch(`${gateway.url}/v1/models`)).headers.get("connection")).toBe("close");
      expect((await fetch(`${gateway.url}/console/`)).headers.get("connection")).toBe("close");
      const again = setInterval(() => process.kill(gateway.pid(), "SIGTERM"), 200);
      expect(await exited).toBe(0);
      clearInterval(again);
    } finally {
      await gateway.remove();
    }
  });
});
