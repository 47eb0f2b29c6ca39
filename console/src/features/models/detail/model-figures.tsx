import type { ConsoleModel } from "@sluice/contract";
import { Stat, Stats } from "../../../components/stat.tsx";
import { stateWords } from "../../../components/status-badge.tsx";
import { t } from "../../../language/areas/models.ts";
import { healthWords, jointState } from "../../catalog/health-words.ts";
import { priceWords } from "../../catalog/price-words.ts";

/** Health and price. */
export function ModelFigures({ model }: { readonly model: ConsoleModel }) {
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
    </Stats>
  );
}

function servedHint(enabled: number, count: number): string {
  return enabled === count
    ? t("models.figures.deployments", { count })
    : t("models.figures.someDisabled", { count, disabled: count - enabled });
}
