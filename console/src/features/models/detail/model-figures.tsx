import type { ConsoleModel } from "@sluice/contract";
import { formatUsdShort } from "../../../client/format.ts";
import { Count, Money } from "../../../components/figures.tsx";
import { Stat, Stats } from "../../../components/stat.tsx";
import { jointState } from "../../catalog/health-words.ts";
import { priceWords } from "../../catalog/price-words.ts";

const words = { healthy: "Healthy", degraded: "Degraded", unhealthy: "Unhealthy", down: "Down", unknown: "Idle" };

/** How it is, what it costs, what it was used for in the last week. */
export function ModelFigures({ model }: { readonly model: ConsoleModel }) {
  const { requests, cost_usd } = model.last_week;
  const on = model.deployments.filter((each) => each.enabled);
  const price = priceWords(model.price);
  return (
    <Stats label="Figures">
      <Stat
        label="Health"
        value={on.length === 0 ? "Switched off" : words[jointState(on.map((each) => each.health.state))]}
        hint={servedHint(on.length, model.deployments.length)}
      />
      <Stat
        label="Price"
        value={<span className="stat-words">{price === null ? "None" : price.amount}</span>}
        hint={price === null ? "its calls cost 0" : (price.unit ?? undefined)}
      />
      <Stat label="Requests, 7 days" value={<Count value={requests} short />} />
      <Stat
        label="Cost, 7 days"
        value={<Money usd={cost_usd} short />}
        hint={requests === 0 ? undefined : `${formatUsdShort(cost_usd / requests)} each`}
      />
    </Stats>
  );
}

function servedHint(on: number, all: number): string {
  const deployments = all === 1 ? "1 deployment" : `${all} deployments`;
  return on === all ? deployments : `${deployments}, ${all - on} switched off`;
}
