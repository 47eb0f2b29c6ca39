import type { ConsoleModel } from "@sluice/contract";
import { formatCount, formatDay } from "../../../client/format.ts";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { useSession } from "../../../session/session-context.tsx";
import { ListPriceOffer } from "../../catalog/list-price-offer.tsx";
import { listPriceText, typeWords } from "../../catalog/price-words.ts";

/** Facts about a model from the gateway and the price list. */
export function ModelFacts({ model }: { readonly model: ConsoleModel }) {
  const mayChange = useSession().may("administrator");
  return (
    <Section title={t("models.facts.title")}>
      {mayChange && <ListPriceOffer model={model} />}
      <dl className="price-table">
        {factsOf(model).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd className="break">{value}</dd>
          </div>
        ))}
      </dl>
    </Section>
  );
}

/** Name and value; facts that are unknown are left out. */
export function factsOf(model: ConsoleModel): readonly (readonly [name: string, value: string])[] {
  const { price, list_price: listed, context_window: context, max_output_tokens: output } = model;
  const capabilities = [...new Set(model.deployments?.flatMap((each) => Object.keys(each.capabilities ?? {})))];
  const facts: readonly (readonly [string, string | null])[] = [
    [t("models.type"), typeWords[model.type]],
    [t("models.price.title"), price === null ? t("models.noPrice") : listPriceText(price)],
    [t("models.facts.listPrice"), listed === null ? null : listPriceText(listed.price)],
    [
      t("models.about.contextWindow"),
      context === null ? null : t("models.facts.tokens", { count: formatCount(context) }),
    ],
    [t("models.about.outputMax"), output === null ? null : t("models.facts.tokens", { count: formatCount(output) })],
    [t("models.facts.endpoints"), model.endpoints.join(", ") || null],
    [t("models.capabilities.title"), capabilities.join(", ") || null],
    [t("models.facts.retires"), model.retires_at === null ? null : formatDay(model.retires_at)],
  ];
  return facts.flatMap(([name, value]) => (value === null || value === "" ? [] : [[name, value] as const]));
}
