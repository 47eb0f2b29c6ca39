import { Stack, Text } from "@mantine/core";
import type { AttemptDetail } from "@sluice/contract";
import { formatCount } from "../../../client/format.ts";
import { CodeBlock } from "../../../components/code-block.tsx";
import { CopyText } from "../../../components/copy-button.tsx";
import { Nothing } from "../../../components/figures.tsx";
import { JsonView } from "../../../components/json-view.tsx";
import { t } from "../../../language/areas/requests.ts";
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
          {t("requests.nothingWasUsedSoIt")}
        </Text>
        <RawUsage attempt={attempt} />
      </Stack>
    );
  }
  return (
    <Stack gap="sm">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section className="sideways" tabIndex={0} aria-label={t("requests.costByClass")}>
        <table className="cost-table">
          <thead>
            <tr>
              <th scope="col">{t("requests.class")}</th>
              <th scope="col">{t("requests.used")}</th>
              <th scope="col">{t("requests.price")}</th>
              <th scope="col">{t("requests.cost")}</th>
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <tr key={line.name} data-inside={line.inside || undefined}>
                <th scope="row">
                  {line.inside ? t("requests.ofIt", { lowerCase: line.label.toLowerCase() }) : line.label}
                </th>
                <td>{formatCount(line.units)}</td>
                <td>
                  {line.unitUsd === null ? <Nothing word={t("requests.inTheLineAbove")} /> : formatUnitPrice(line)}
                </td>
                <td>
                  {line.usd === null ? <Nothing word={t("requests.inTheLineAbove")} /> : formatExactUsd(line.usd)}
                </td>
              </tr>
            ))}
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">{t("requests.together")}</th>
              <td />
              <td />
              <td>{formatExactUsd(attempt.cost_usd)}</td>
            </tr>
          </tfoot>
        </table>
      </section>
      <Text fz="xs" c="dimmed" component="div">
        {attempt.price_version === null ? (
          t("requests.theModelHadNoPrice")
        ) : (
          <>
            At price version <CopyText value={attempt.price_version} label={t("requests.copyPriceVersion")} />
          </>
        )}{" "}
        {sources[attempt.usage_source]}
      </Text>
      <RawUsage attempt={attempt} />
    </Stack>
  );
}

const sources = {
  upstream: t("requests.theNumbersAreTheUpstreams"),
  estimated: t("requests.theUpstreamToldNoWhole"),
  none: t("requests.nothingWasToldOfWhat"),
} as const;

function RawUsage({ attempt: { raw_usage: raw } }: { readonly attempt: AttemptDetail }) {
  if (raw === null) return null;
  const parsed = jsonOf(raw);
  return (
    <details className="raw-usage">
      <summary>{t("requests.asTheUpstreamToldIt")}</summary>
      {parsed === undefined ? (
        <CodeBlock code={raw} label={t("requests.usageAsTheUpstreamTold")} wrap />
      ) : (
        <JsonView value={parsed} label={t("requests.usageAsTheUpstreamTold")} />
      )}
    </details>
  );
}
