import { Anchor, Select, Text, TextInput } from "@mantine/core";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useAct } from "../../../api/use-act.ts";
import { useCall } from "../../../api/use-call.ts";
import { FormDrawer, wrongField } from "../../../components/form-drawer.tsx";
import { t } from "../../../language/areas/models.ts";
import { afterCatalogChange } from "../../catalog/catalog-routes.ts";
import { type ModelType, modelTypes, typeWords } from "../../catalog/price-words.ts";
import { UpstreamModelInput } from "../../catalog/upstream-model-input.tsx";

/** A new model and the first place it leads to. Its price and the rest follow on its own page. */
export function AddModel({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState("");
  const [type, setType] = useState<ModelType>("chat");
  const [provider, setProvider] = useState<string | null>(null);
  const [upstreamModel, setUpstreamModel] = useState("");
  const providers = useCall("providers.list").data?.data ?? null;
  const chosen = provider ?? (providers?.length === 1 ? (providers[0]?.id ?? null) : null);
  const navigate = useNavigate();
  const create = useAct("models.create", {
    invalidates: afterCatalogChange,
    inline: true,
    done: (model) => t("models.modelIsAddedSetIts", { name: model.name }),
    onDone: (model) => void navigate({ to: "/models/$model", params: { model: model.name }, search: { tab: "price" } }),
  });
  const named = name.trim();
  const upstream = upstreamModel.trim();
  const submit = () => {
    if (chosen === null) return;
    const deployment = { provider: chosen, ...(upstream === "" ? {} : { upstream_model: upstream }) };
    create.mutate({ body: { name: named, type, deployments: [deployment] } });
  };
  return (
    <FormDrawer
      opened
      title={t("models.addAModel")}
      verb={t("models.addModel")}
      onClose={onClose}
      onSubmit={submit}
      saving={create.isPending}
      problem={create.error}
      blocked={named === "" ? t("models.giveItAName") : chosen === null ? t("models.chooseAProvider") : null}
    >
      <Text size="sm" c="dimmed">
        For many at once, open a <ProvidersLink /> and import its models.
      </Text>
      <TextInput
        label={t("models.name")}
        description={t("models.whatCallersAskForIt")}
        placeholder={t("models.gpt61Sol")}
        withAsterisk
        maxLength={256}
        autoComplete="off"
        spellCheck={false}
        data-autofocus
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
        error={wrongField(create.error, "name")}
      />
      <Select
        label={t("models.type")}
        description={t("models.saysWhichCallsItAnswers")}
        data={modelTypes.map((value) => ({ value, label: typeWords[value] }))}
        allowDeselect={false}
        value={type}
        onChange={(value) => setType(modelTypes.find((each) => each === value) ?? "chat")}
        error={wrongField(create.error, "type")}
      />
      <Select
        label={t("models.provider")}
        description={providers?.length === 0 ? t("models.thereIsNoneYetAdd2") : t("models.whoAnswersOthersCanBe")}
        placeholder={t("models.chooseOne")}
        withAsterisk
        searchable
        data={(providers ?? []).map(({ id }) => id)}
        value={chosen}
        onChange={setProvider}
      />
      <UpstreamModelInput
        provider={chosen}
        placeholder={named || t("models.theSameName")}
        value={upstreamModel}
        onChange={setUpstreamModel}
        error={wrongField(create.error, "deployments")}
      />
    </FormDrawer>
  );
}

function ProvidersLink() {
  return (
    <Anchor size="sm" renderRoot={(props) => <Link to="/providers" search={{}} {...props} />}>
      {t("models.provider2")}
    </Anchor>
  );
}
