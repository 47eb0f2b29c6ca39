import { Stack, Text } from "@mantine/core";
import type { AttemptDetail } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { CopyText } from "../../../components/copy-button.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { JsonView } from "../../../components/json-view.tsx";
import { Rich, t } from "../../../language/areas/requests.ts";
import { jsonOf } from "./json-text.ts";
import { formatExactUsd, formatUnitPrice } from "./price-text.ts";
import { usageLines } from "./token-classes.ts";

/** Usage times price for each class: the lines add up to the cost of the attempt. */
export function CostTable({ attempt }: { readonly attempt: AttemptDetail }) {
  const lines = usageLines(attempt);
  if (lines.length === 0) {
    return (
      <Stack gap="sm">
        <Text fz="sm" c="dimmed">
          {t("requests.cost.none")}
        </Text>
        <RawUsage attempt={attempt} />
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section className="sideways" tabIndex={0} aria-label={t("requests.cost.table")}>
        <table className="cost-table">
          <thead>
            <tr>
              <th scope="col">{t("requests.cost.class")}</th>
              <th scope="col">{t("requests.cost.used")}</th>
              <th scope="col">{t("requests.cost.price")}</th>
              <th scope="col">{t("requests.cost.cost")}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name} data-inside={line.inside || undefined}>
                <th scope="row">{line.inside ? t("requests.cost.inside", { class: line.label }) : line.label}</th>
                <td>{formatCount(line.units)}</td>
                <td>{line.unitUsd === null ? <Nothing word={t("requests.cost.above")} /> : formatUnitPrice(line)}</td>
                <td>{line.usd === null ? <Nothing word={t("requests.cost.above")} /> : formatExactUsd(line.usd)}</td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">{t("requests.cost.total")}</th>
              <td />
              <td />
              <td>{formatExactUsd(attempt.cost_usd)}</td>
            </tr>
          </tfoot>
        </table>
      </section>
      <Text fz="xs" c="dimmed" component="div">
        {attempt.price_version === null ? (
          t("requests.cost.unpriced")
        ) : (
          <PriceVersion version={attempt.price_version} />
        )}{" "}
        {sources[attempt.usage_source]}
      </Text>
      <RawUsage attempt={attempt} />
    </Stack>
  );
}

function PriceVersion({ version }: { readonly version: string }) {
  return (
    <Rich
      text="requests.cost.version"
      tags={{ id: () => <CopyText value={version} label={t("requests.cost.copyVersion")} /> }}
    />
  );
}

const sources = {
  upstream: t("requests.usageSource.upstream"),
  estimated: t("requests.usageSource.estimated"),
  none: t("requests.usageSource.none"),
} as const;

function RawUsage({ attempt: { raw_usage: raw } }: { readonly attempt: AttemptDetail }) {
  if (raw === null) return null;
  const parsed = jsonOf(raw);
  return (
    <details className="raw-usage">
      <summary>{t("requests.cost.raw")}</summary>
      {parsed === undefined ? (
        <CodeBlock code={raw} label={t("requests.cost.raw")} wrap />
      ) : (
        <JsonView value={parsed} label={t("requests.cost.raw")} />
      )}
    </details>
  );
}
