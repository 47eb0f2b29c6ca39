import { Failure } from "../../gateway/src/core/index.ts";
import type { ReportStore } from "../../gateway/src/ports/index.ts";
import { consoleQuestions } from "./console-questions.ts";
import type { Filled } from "./console-rows.ts";
import { type Figure, figure, medianText } from "./figure.ts";
import { othersShare } from "./process-tree.ts";
import { quantile } from "./statistics.ts";

const warmUp = 2;

/**
 * Repeats each query alone. Lists are judged by their median; `byP95`: every query by its 95th percentile. Notes also have the time of the
 * first answer, and the processor time of this process for one of the later ones.
 */
export async function answers(
  reports: ReportStore,
  filled: Filled,
  times: number,
  { byP95 = false }: { readonly byP95?: boolean } = {},
): Promise<Figure[]> {
  const figures: Figure[] = [];
  const share = othersShare();
  for (const { name, list, ask } of consoleQuestions(filled)) {
    const samples: number[] = [];
    const cpuMs: number[] = [];
    let firstMs = 0;
    let late = 0;
    for (let turn = 0; turn < warmUp + times; turn++) {
      const cpuBefore = process.cpuUsage();
      const startedAt = performance.now();
      await ask(reports).catch((failure: unknown) => {
        if (!(failure instanceof Failure) || failure.code !== "request_timeout") throw failure;
        late++;
      });
      const ms = performance.now() - startedAt;
      if (turn === 0) firstMs = ms;
      if (turn < warmUp) continue;
      samples.push(ms);
      const { user, system } = process.cpuUsage(cpuBefore);
      cpuMs.push((user + system) / 1_000);
    }
    const p95 = quantile(
      samples.toSorted((a, b) => a - b),
      0.95,
    );
    const also = `first ${firstMs.toFixed(0)}, processor ${medianText(cpuMs)}${late === 0 ? "" : `; ${late} too late`}`;
    console.error(`${name}: p50 ${medianText(samples)}, p95 ${p95.toFixed(1)} ms, ${also}`);
    figures.push(
      figure(name, byP95 ? [p95] : samples, {
        unit: "ms",
        ...(list || byP95 ? { target: { most: 200 } } : {}),
        note: `${byP95 ? `p95; p50 ${medianText(samples)}` : `p95 ${p95.toFixed(1)}`}, ${also}`,
      }),
    );
  }
  const lists = figures.filter(({ target }) => target !== null);
  const slowest = lists.toSorted((a, b) => (b.measured?.median ?? 0) - (a.measured?.median ?? 0))[0];
  return [
    figure("Slowest list or search", slowest?.measured?.samples ?? [], {
      unit: "ms",
      target: { most: 200 },
      note: `${slowest?.name}; median of all ${medianText(lists.flatMap((each) => each.measured?.median ?? []))}`,
    }),
    ...figures,
    figure("CPU used by other processes meanwhile", [share() * 100], { unit: "%" }),
  ];
}
