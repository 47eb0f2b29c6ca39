import { Anchor, Select, Text, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { FormDrawer } from "../../../components/form-drawer.tsx";
import { Rich, t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { modelTypes, typeWords } from "../../catalog/price-words.ts";
import { UpstreamModelInput } from "../../catalog/upstream-model-input.tsx";
import { useFaults } from "../../catalog/use-faults.ts";
import { useModels } from "../../catalog/use-models.ts";
import { emptyModel, modelBody, modelFaults, type NewModel } from "./new-model.ts";
import { NewModelPrice, useListEntry } from "./new-model-price.tsx";

/** Creates a model with its first deployment, price and fallbacks. */
export function AddModel({ onClose }: { readonly onClose: () => void }) {
  const [draft, setDraft] = useState(emptyModel);
  const providers = useCall("providers.list").data?.data ?? null;
  const models = useModels();
  const provider = draft.provider ?? (providers?.length === 1 ? (providers[0]?.id ?? null) : null);
  const navigate = useNavigate();
  const create = useAct("models.create", {
    invalidates: afterCatalogChange,
    inline: true,
    done: ({ name, price }) => t(price === null ? "models.add.done" : "models.add.doneWithPrice", { name }),
    onDone: (model) =>
      void navigate({
        to: "/models/$model",
        params: { model: model.name },
        search: { tab: model.price === null ? "price" : "serving" },
      }),
  });
  const listed = useListEntry({ ...draft, provider });
  const faults = useFaults(modelFaults({ ...draft, provider }, models), create.error);
  const change = (part: Partial<NewModel>) => setDraft((before) => ({ ...before, ...part }));
  const submit = () => {
    if (faults.check() && provider !== null)
      create.mutate({ body: modelBody({ ...draft, provider }, listed !== undefined) });
  };
  return (
    <FormDrawer
      opened
      title={t("models.add.title")}
      verb={t("models.add.button")}
      onClose={onClose}
      onSubmit={submit}
      saving={create.isPending}
      problem={create.error}
    >
      <Text size="sm" c="dimmed">
        <Rich text="models.add.many" tags={{ providers: providersLink }} />
      </Text>
      <TextInput
        label={t("models.name")}
        description={t("models.add.nameHelp")}
        placeholder={t("models.add.nameExample")}
        withAsterisk
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={draft.name}
        onChange={(event) => change({ name: event.currentTarget.value })}
        error={faults.of("name")}
      />
      <Select
        label={t("models.type")}
        description={t("models.about.typeHelp")}
        data={modelTypes.map((value) => ({ value, label: typeWords[value] }))}
        allowDeselect={false}
        value={draft.type}
        onChange={(value) => change({ type: modelTypes.find((each) => each === value) ?? "chat" })}
        error={faults.of("type")}
      />
      <Select
        label={t("models.provider")}
        description={providers?.length === 0 ? t("models.add.noProviders") : t("models.add.providerHelp")}
        placeholder={t("models.choose")}
        withAsterisk
        searchable
        limit={100}
        data={(providers ?? []).map(({ id }) => id)}
        value={provider}
        onChange={(chosen) => change({ provider: chosen })}
        error={faults.of("provider")}
      />
      <UpstreamModelInput
        provider={provider}
        placeholder={draft.name.trim() || t("models.add.sameName")}
        value={draft.upstreamModel}
        onChange={(upstreamModel) => change({ upstreamModel })}
        error={faults.of("deployments")}
      />
      <NewModelPrice draft={draft} listed={listed} onChange={change} />
      <Select
        label={t("models.add.fallback")}
        description={t("models.add.fallbackHelp")}
        placeholder={t("models.add.noFallback")}
        data={[...models.values()].filter((each) => each.type === draft.type).map((each) => each.name)}
        searchable
        clearable
        limit={100}
        value={draft.fallbacks[0] ?? null}
        onChange={(name) => change({ fallbacks: name === null ? [] : [name] })}
        error={faults.of("fallbacks")}
      />
    </FormDrawer>
  );
}

function providersLink(inside: ReactNode) {
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/providers" search={{}} {...props} />}>
      {inside}
    </Anchor>
  );
}
