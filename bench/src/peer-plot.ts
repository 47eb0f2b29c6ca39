import type { Figure } from "./figure.ts";
import { formatNumber } from "./figure.ts";

/**
 * Draws the cost of a call with each gateway, from a result of `npm run bench -- --peers`:
 * `bun bench/src/peer-plot.ts bench/results/….json > docs/images/peers.svg`
 */
const panels = ["1 KB, CPU per call", "100 KB, CPU per call", "2 MB, CPU per call", "CPU per streamed event"];
const bar = { height: 16, gap: 6 };
const width = { name: 130, bars: 430, value: 110 };
const panelHead = 34;

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("pass a result: bun bench/src/peer-plot.ts bench/results/….json");
const { figures }: { figures: readonly Figure[] } = await Bun.file(file).json();
let top = 0;
const drawn = panels.map((panel) => {
  const rows = figures.flatMap(({ name, measured }) =>
    measured !== null && name.startsWith(`${panel}: `)
      ? [{ name: name.slice(panel.length + 2), micros: measured.median }]
      : [],
  );
  const lines = [`<text x="0" y="${top + 22}" class="head">${panel}, µs (logarithmic)</text>`];
  top += panelHead;
  const most = Math.max(...rows.map(({ micros }) => micros));
  for (const { name, micros } of rows.sort((one, other) => one.micros - other.micros)) {
    // The scale starts at 1 µs for every bar.
    const length = Math.max(2, (Math.log10(Math.max(1, micros)) / Math.log10(most)) * width.bars);
    const kind = name.startsWith("Sluice") ? "ours" : "theirs";
    lines.push(
      `<text x="${width.name - 8}" y="${top + 12}" text-anchor="end">${name}</text>`,
      `<rect x="${width.name}" y="${top}" width="${length.toFixed(1)}" height="${bar.height}" rx="2" class="${kind}"/>`,
      `<text x="${(width.name + length + 8).toFixed(1)}" y="${top + 12}">${formatNumber(micros)}</text>`,
    );
    top += bar.height + bar.gap;
  }
  return lines.join("\n");
});
const all = width.name + width.bars + width.value;
console.log(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="-12 -8 ${all + 24} ${top + 20}" font-family="system-ui, sans-serif" font-size="12">
<title>Processor time of each gateway, by the call and by the streamed event</title>
<style>text { fill: #24292f } .head { font-weight: 600 } .ours { fill: #0969da } .theirs { fill: #afb8c1 }</style>
<rect x="-12" y="-8" width="${all + 24}" height="${top + 20}" fill="#ffffff"/>
${drawn.join("\n")}
</svg>`);
