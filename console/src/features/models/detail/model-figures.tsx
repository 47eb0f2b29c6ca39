import type { ConsoleModel } from "@sluice/contract";
import { formatUsdShort } from "../../../client/format.ts";
import { Count, Money } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { stateWords } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/models.ts";
import { healthWords, jointState } from "../../catalog/health-words.ts";
import { priceWords } from "../../catalog/price-words.ts";

/** Health, price, and usage in the last week. */
export function ModelFigures({ model }: { readonly model: ConsoleModel }) {
  const { requests, cost_usd } = model.last_week;
  const on = model.deployments.filter((each) => each.enabled);
  const price = priceWords(model.price);
  return (
    <Stats label={t("models.figures.title")}>
      <Stat
        label={t("models.health")}
        value={on.length === 0 ? stateWords("disabled") : healthWords[jointState(on.map((each) => each.health.state))]}
        hint={servedHint(on.length, model.deployments.length)}
      />
      <Stat
        label={t("models.price.title")}
        value={<span className="stat-words">{price === null ? t("models.figures.noPrice") : price.amount}</span>}
        hint={price === null ? t("models.figures.noPriceHelp") : (price.unit ?? undefined)}
      />
      <Stat label={t("models.figures.requests")} value={<Count value={requests} short />} />
      <Stat
        label={t("models.figures.cost")}
        value={<Money usd={cost_usd} short />}
        hint={requests === 0 ? undefined : t("models.figures.each", { cost: formatUsdShort(cost_usd / requests) })}
      />
    </Stats>
  );
}

function servedHint(enabled: number, count: number): string {
  return enabled === count
    ? t("models.figures.deployments", { count })
    : t("models.figures.someDisabled", { count, disabled: count - enabled });
}
