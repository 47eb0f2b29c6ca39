import type { ConsoleModel } from "@sluice/contract";
import { formatUsdShort } from "../../../client/format.ts";
import { Count, Money } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { t } from "../../../language/areas/models.ts";
import { jointState } from "../../catalog/health-words.ts";
import { priceWords } from "../../catalog/price-words.ts";

const words = {
  healthy: t("models.healthy"),
  degraded: t("models.degraded"),
  unhealthy: t("models.unhealthy"),
  down: t("models.down"),
  unknown: t("models.idle"),
};

/** How it is, what it costs, what it was used for in the last week. */
export function ModelFigures({ model }: { readonly model: ConsoleModel }) {
  const { requests, cost_usd } = model.last_week;
  const on = model.deployments.filter((each) => each.enabled);
  const price = priceWords(model.price);
  return (
    <Stats label={t("models.figures")}>
      <Stat
        label={t("models.health")}
        value={on.length === 0 ? t("models.switchedOff") : words[jointState(on.map((each) => each.health.state))]}
        hint={servedHint(on.length, model.deployments.length)}
      />
      <Stat
        label={t("models.price")}
        value={<span className="stat-words">{price === null ? t("models.none2") : price.amount}</span>}
        hint={price === null ? t("models.itsCallsCost0") : (price.unit ?? undefined)}
      />
      <Stat label={t("models.requests7Days")} value={<Count value={requests} short />} />
      <Stat
        label={t("models.cost7Days")}
        value={<Money usd={cost_usd} short />}
        hint={requests === 0 ? undefined : t("models.each", { usdShort: formatUsdShort(cost_usd / requests) })}
      />
    </Stats>
  );
}

function servedHint(on: number, all: number): string {
  const deployments = all === 1 ? "1 deployment" : t("models.deployments", { all });
  return on === all ? deployments : `${deployments}, ${all - on} switched off`;
}
