import { Alert, Stack } from "@mantine/core";
import { type ConsoleModel, type PriceConfig, priceSchema } from "@sluice/contract";
import { IconCoin, IconCoinOff, IconUsers } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { formatMoment } from "../../../client/format.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { LeaveGuard } from "../../../components/leave-guard.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { PriceForm } from "../../../components/price-form.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { t as priceWords } from "../../../language/areas/prices.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { ListPriceOffer } from "../../catalog/list-price-offer.tsx";
import { classLabel, columnLabels, isUnpriced, priceItems } from "../../catalog/price-words.ts";
import { SaveBar } from "../../catalog/save-bar.tsx";
import { priceChange } from "../../rehearsals/button/change-of.ts";
import { RehearseButton } from "../../rehearsals/button/rehearse-button.tsx";
import { PriceHistory } from "./price-history.tsx";
import { PriceSimulation } from "./price-simulation.tsx";
import { UnpricedChoice } from "./unpriced-choice.tsx";

/** The price of a model, a simulation with another price, and the price history. */
export function PricePanel({ model }: { readonly model: ConsoleModel }) {
  const [draft, setDraft] = useState<PriceConfig | null>(null);
  // The version it is based on: another user may save one meanwhile.
  const [from, setFrom] = useState<PriceConfig>({});
  const stored = model.price ?? {};
  const price = draft ?? stored;
  const isChanged = draft !== null && !samePrice(draft, stored);
  const locked = model.managed_by !== "console";
  const fault = priceFault(price);
  const save = useAct("models.update", {
    invalidates: afterCatalogChange,
    shownBy: "models.show",
    inline: true,
    done: t("models.price.saved"),
    onDone: () => setDraft(null),
  });
  const clear = useAct("models.update", {
    invalidates: afterCatalogChange,
    shownBy: "models.show",
    done: t("models.price.removed"),
    onDone: () => setDraft(null),
  });
  const change = (next: PriceConfig) => {
    save.reset();
    if (draft === null) setFrom(stored);
    setDraft(next);
  };
  const params = { model: model.name };
  return (
    <form noValidate onSubmit={(event) => event.preventDefault()}>
      <Stack gap="lg">
        <ManagedByFileNote by={model.managed_by} />
        {isChanged && !samePrice(from, stored) && (
          <Alert color="yellow" variant="light" icon={<IconUsers size={16} />} title={t("models.conflict.title")}>
            {t("models.conflict.help")}
          </Alert>
        )}
        <PriceNotices model={model} locked={locked} />
        <Section
          title={t("models.price.title")}
          description={t("models.price.help")}
          actions={
            !locked &&
            !isUnpriced(model.price) && (
              <ConfirmButton
                title={t("models.price.removeTitle", { name: model.name })}
                verb={t("models.price.remove")}
                onConfirm={() => clear.mutateAsync({ params, body: { price: null } })}
              >
                {t("models.price.removeHelp")}
              </ConfirmButton>
            )
          }
        >
          <ListPriceOffer model={model} />
          <PriceForm value={price} onChange={change} type={model.type} disabled={locked} />
        </Section>
        <PriceSimulation model={model.name} price={price} isChanged={isChanged} />
        <PriceHistory model={model.name} {...(locked ? {} : { onUse: change })} />
        <SaveBar
          shown={isChanged}
          blocked={fault}
          saving={save.isPending}
          problem={save.error}
          verb={t("models.price.save")}
          words={t("models.price.unsaved")}
          actions={
            <RehearseButton
              change={fault === null ? priceChange(model.name, price) : null}
              workspace={null}
              forAdministrators
            />
          }
          onDiscard={() => {
            save.reset();
            setDraft(null);
          }}
          onSave={() => save.mutate({ params, body: { price } })}
        />
        <LeaveGuard dirty={isChanged} />
      </Stack>
    </form>
  );
}

/** Problems of the current price, and the next price. */
function PriceNotices({ model, locked }: { readonly model: ConsoleModel; readonly locked: boolean }) {
  return (
    <>
      {isUnpriced(model.price) && (
        <Alert color="yellow" variant="light" icon={<IconCoinOff size={18} />} title={t("models.price.missing")}>
          <UnpricedChoice model={model} disabled={locked} />
        </Alert>
      )}
      {model.unpriced_usage.length > 0 && (
        <Alert
          color="yellow"
          variant="light"
          icon={<IconCoinOff size={18} />}
          title={t("models.partlyPriced.title", { classes: columnLabels(model.unpriced_usage) })}
        >
          {t("models.partlyPriced.help")}
        </Alert>
      )}
      {model.next_price !== null && (
        <Alert
          color="blue"
          variant="light"
          icon={<IconCoin size={18} />}
          title={t("models.price.next", { date: formatMoment(model.next_price.from) })}
        >
          {priceItems(model.next_price.price)
            .map(({ label, words }) => `${label} ${words}`)
            .join(" · ")}
        </Alert>
      )}
      {model.price_guessed && (
        <Alert color="yellow" variant="light" icon={<IconCoin size={18} />} title={t("models.priceList.guessed")}>
          {t("models.priceList.guessedHelp")}
        </Alert>
      )}
    </>
  );
}

function samePrice(one: PriceConfig, other: PriceConfig): boolean {
  const sorted = (price: PriceConfig) => JSON.stringify(Object.entries(price).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

/** Parts of a price that are not classes of usage. */
const partNames: Readonly<Record<string, string>> = {
  long_context: priceWords("prices.longContext.title"),
  variants: priceWords("prices.variants.title"),
};

function priceFault(price: PriceConfig): string | null {
  if (Object.keys(price).length === 0) return t("models.price.empty");
  const parsed = priceSchema.safeParse(price);
  if (parsed.success) return null;
  const [name] = parsed.error.issues[0]?.path ?? [];
  return t("models.price.invalid", { field: partNames[String(name)] ?? classLabel(String(name ?? "")) });
}
