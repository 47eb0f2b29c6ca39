import { Stack, Text } from "@mantine/core";
import type { AttemptDetail } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { CopyText } from "../../../components/copy-button.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { JsonView } from "../../../components/json-view.tsx";
import { jsonOf } from "./json-text.ts";
import { formatExactUsd, formatUnitPrice } from "./price-text.ts";
import { usageLines } from "./token-classes.ts";

/** What was used, class by class, times its price: lines that add up to the cost of the attempt. */
export function CostTable({ attempt }: { readonly attempt: AttemptDetail }) {
  const lines = usageLines(attempt);
  if (lines.length === 0) {
    return (
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          Nothing was used, so it cost nothing.
        </Text>
        <RawUsage attempt={attempt} />
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section className="sideways" tabIndex={0} aria-label="Cost by class">
        <table className="cost-table">
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col">Used</th>
              <th scope="col">Price</th>
              <th scope="col">Cost</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name} data-inside={line.inside || undefined}>
                <th scope="row">{line.inside ? `of it, ${line.label.toLowerCase()}` : line.label}</th>
                <td>{formatCount(line.units)}</td>
                <td>{line.unitUsd === null ? <Nothing word="in the line above" /> : formatUnitPrice(line)}</td>
                <td>{line.usd === null ? <Nothing word="in the line above" /> : formatExactUsd(line.usd)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Together</th>
              <td />
              <td />
              <td>{formatExactUsd(attempt.cost_usd)}</td>
            </tr>
          </tfoot>
        </table>
      </section>
      <Text fz="xs" c="dimmed" component="div">
        {attempt.price_version === null ? (
          "The model had no price at the time."
        ) : (
          <>
            At price version <CopyText value={attempt.price_version} label="Copy price version" />
          </>
        )}{" "}
        {sources[attempt.usage_source]}
      </Text>
      <RawUsage attempt={attempt} />
    </Stack>
  );
}

const sources = {
  upstream: "The numbers are the upstream's own.",
  estimated: "The upstream told no whole numbers; these are estimates from what was seen.",
  none: "Nothing was told of what was used.",
} as const;

function RawUsage({ attempt: { raw_usage: raw } }: { readonly attempt: AttemptDetail }) {
  if (raw === null) return null;
  const parsed = jsonOf(raw);
  return (
    <details className="raw-usage">
      <summary>As the upstream told it</summary>
      {parsed === undefined ? (
        <CodeBlock code={raw} label="usage as the upstream told it" wrap />
      ) : (
        <JsonView value={parsed} label="usage as the upstream told it" />
      )}
    </details>
  );
}
