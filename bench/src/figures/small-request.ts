import type { LabName } from "../contender.ts";
import { startSocketFloor } from "../contenders/bare-bun.ts";
import { type Figure, figure, medianText, ratios } from "../figure.ts";
import { type Lab, sampleInTurn } from "../lab.ts";
import { treeMemory } from "../process-tree.ts";
import { saturate } from "../saturate.ts";
import { quantile } from "../statistics.ts";
import { callsPerSecondTarget, targets } from "../targets.ts";
import { ThreadTimes } from "../thread-times.ts";
import { warmUp } from "../warm-up.ts";

/** CPU time of a 1 KB chat request with limits, and the throughput of one core. */
export async function smallRequest(lab: Lab): Promise<Figure[]> {
  const quick = lab.run.options.mode === "quick";
  const load = { bodyBytes: 1024, connections: 32, seconds: quick ? 1 : 3 };
  const floor = await startSocketFloor(lab.run);
  const contenders = [...lab.contenders, floor];
  for (const contender of contenders) await warmUp(lab.run, contender, load);
  const threads = new ThreadTimes(lab.sluice.pid);
  const samples = await sampleInTurn(lab.run, contenders, quick ? 3 : 7, (contender) =>
    saturate(lab.run, contender, load),
  );
  await floor.stop();
  const samplesOf = (name: LabName | typeof floor.name) => samples.get(name) ?? [];
  const cpuMicros = (name: "nginx" | "sluice" | typeof floor.name) =>
    samplesOf(name).map(({ value, cost }) => (cost.cpuMs * 1000) / value.requests);
  const rates = (name: LabName) => samplesOf(name).map(({ value }) => value.perSecond);
  const requests = samplesOf("sluice").reduce((sum, { value }) => sum + value.requests, 0);
  const nginxRate = quantile(
    [...rates("nginx")].sort((a, b) => a - b),
    0.5,
  );
  const memory = treeMemory(lab.sluice.pid);
  return [
    figure("CPU per governed 1 KB chat request, over nginx", ratios(cpuMicros("sluice"), cpuMicros("nginx")), {
      unit: "×",
      target: targets.cpuOfCall,
      note: `nginx ${medianText(cpuMicros("nginx"))} µs, Sluice ${medianText(cpuMicros("sluice"))} µs: ${threads.perCall(requests)}`,
    }),
    figure(
      "CPU of the same call through bare sockets of the runtime",
      ratios(cpuMicros(floor.name), cpuMicros("nginx")),
      {
        unit: "×",
        note: `${medianText(cpuMicros(floor.name))} µs; the floor of any proxy on this runtime`,
      },
    ),
    figure("Governed requests per second on one core", rates("sluice"), {
      unit: "1/s",
      target: callsPerSecondTarget(nginxRate),
      note: `nginx with one worker ${medianText(rates("nginx"))}, the upstream alone ${medianText(rates("direct"))}`,
    }),
    figure("Memory after that load", [memory.residentKb / 1024], {
      unit: "MB",
      target: targets.smallMb,
      note: `at most ${Math.round(memory.peakKb / 1024)} MB`,
    }),
  ];
}
