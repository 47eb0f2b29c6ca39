import { Alert, Stack } from "@mantine/core";
import { type ConsoleModel, type PriceConfig, priceSchema } from "@sluice/contract";
import { IconCoinOff } from "@tabler/icons-react";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { ConfirmButton } from "../../../components/confirm-button.tsx";
import { ManagedByFileNote } from "../../../components/managed-by-file.tsx";
import { PriceForm } from "../../../components/price-form.tsx";
import { Section } from "../../../components/section.tsx";
import { t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { LeaveGuard } from "../../catalog/leave-guard.tsx";
import { isUnpriced } from "../../catalog/price-words.ts";
import { SaveBar } from "../../catalog/save-bar.tsx";
import { PriceHistory } from "./price-history.tsx";
import { PriceSimulation } from "./price-simulation.tsx";

/** What a model costs, what the last days would have cost at another price, and what it cost before. */
export function PricePanel({ model }: { readonly model: ConsoleModel }) {
  const [draft, setDraft] = useState<PriceConfig | null>(null);
  const stored = model.price ?? {};
  const price = draft ?? stored;
  const isChanged = draft !== null && !samePrice(draft, stored);
  const locked = model.managed_by === "file";
  const save = useAct("models.update", {
    invalidates: afterCatalogChange,
    inline: true,
    done: t("models.thePriceIsSetIt"),
    onDone: () => setDraft(null),
  });
  const clear = useAct("models.update", {
    invalidates: afterCatalogChange,
    done: t("models.thePriceIsTakenAway"),
    onDone: () => setDraft(null),
  });
  const change = (next: PriceConfig) => {
    save.reset();
    setDraft(next);
  };
  const params = { model: model.name };
  return (
    <Stack gap="lg">
      <ManagedByFileNote by={model.managed_by} />
      {isUnpriced(model.price) && (
        <Alert color="yellow" variant="light" icon={<IconCoinOff size={18} />} title={t("models.thisModelHasNoPrice")}>
          {t("models.itsCallsCost0In")}
        </Alert>
      )}
      <Section
        title={t("models.price")}
        description={t("models.usDollarsAChangeCounts")}
        actions={
          !locked &&
          !isUnpriced(model.price) && (
            <ConfirmButton
              title={t("models.takeAwayThePriceOf", { name: model.name })}
              verb={t("models.takeThePriceAway")}
              onConfirm={() => clear.mutateAsync({ params, body: { price: null } })}
            >
              {t("models.fromNowOnItsCalls")}
            </ConfirmButton>
          )
        }
      >
        <PriceForm value={price} onChange={change} type={model.type} disabled={locked} />
      </Section>
      <PriceSimulation model={model.name} price={price} isChanged={isChanged} />
      <PriceHistory model={model.name} {...(locked ? {} : { onUse: change })} />
      <SaveBar
        shown={isChanged}
        blocked={priceFault(price)}
        saving={save.isPending}
        problem={save.error}
        verb={t("models.setPrice")}
        words={t("models.thisPriceIsNotSet")}
        onDiscard={() => {
          save.reset();
          setDraft(null);
        }}
        onSave={() => save.mutate({ params, body: { price } })}
      />
      <LeaveGuard dirty={isChanged} />
    </Stack>
  );
}

function samePrice(one: PriceConfig, other: PriceConfig): boolean {
  const sorted = (price: PriceConfig) => JSON.stringify(Object.entries(price).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return sorted(one) === sorted(other);
}

function priceFault(price: PriceConfig): string | null {
  if (Object.keys(price).length === 0) return t("models.withoutAnyFigureItIs");
  const parsed = priceSchema.safeParse(price);
  if (parsed.success) return null;
  const [issue] = parsed.error.issues;
  return `${issue?.path.join(".") ?? "price"}: ${issue?.message ?? t("models.notAsItShouldBe")}`;
}
