import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { CloseButton } from "../../../components/close-button.tsx";
import { Modal } from "../../../components/modal.tsx";
import { t } from "../../../language/areas/models.ts";
import { UpstreamModelInput } from "../../catalog/upstream-model-input.tsx";
import { placedKey } from "./priorities.ts";

interface AddDeploymentProps {
  readonly model: string;
  /** Keys of the existing deployments. */
  readonly usedKeys: readonly string[];
  readonly onClose: () => void;
  readonly onAdd: (provider: string, upstreamModel: string) => void;
}

/** Adds a deployment with the last priority. */
export function AddDeployment({ model, usedKeys: taken, onClose, onAdd }: AddDeploymentProps) {
  const providers = useCall("providers.list").data?.data ?? null;
  const [provider, setProvider] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const upstreamModel = typed.trim() || model;
  const [isSubmitted, setIsSubmitted] = useState(false);
  const isDuplicate = provider !== null && taken.includes(placedKey(provider, upstreamModel));
  return (
    <Modal opened onClose={onClose} title={t("models.deployments.addTitle")}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          setIsSubmitted(true);
          if (provider !== null && !isDuplicate) onAdd(provider, upstreamModel);
        }}
      >
        <Stack gap="md">
          <Select
            label={t("models.provider")}
            placeholder={t("models.choose")}
            description={providers?.length === 0 ? t("models.deployments.noProviders") : undefined}
            withAsterisk
            searchable
            limit={100}
            data-autofocus
            data={(providers ?? []).map(({ id, enabled }) => ({
              value: id,
              label: enabled ? id : t("models.deployments.disabledProvider", { provider: id }),
            }))}
            value={provider}
            onChange={setProvider}
            error={isSubmitted && provider === null ? t("models.add.providerMissing") : undefined}
          />
          <UpstreamModelInput
            provider={provider}
            placeholder={model}
            value={typed}
            onChange={setTyped}
            error={isDuplicate ? t("models.deployments.duplicate") : undefined}
          />
          <Text size="xs" c="dimmed">
            {t("models.deployments.addHelp")}
          </Text>
          <Group justify="flex-end">
            <CloseButton />
            <Button type="submit">{t("models.deployments.add")}</Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
