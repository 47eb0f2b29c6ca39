import { Button, Group, Modal, Select, Stack, Text } from "@mantine/core";
import { useState } from "react";
import { useCall } from "../../../api/use-call.ts";
import { t } from "../../../language/areas/models.ts";
import { UpstreamModelInput } from "../../catalog/upstream-model-input.tsx";
import { placedKey } from "./steps.ts";

interface AddDeploymentProps {
  readonly model: string;
  /** Keys of those that are there. */
  readonly taken: readonly string[];
  readonly onClose: () => void;
  readonly onAdd: (provider: string, upstreamModel: string) => void;
}

/** Another place that calls may go to; it comes last until it is moved. */
export function AddDeployment({ model, taken, onClose, onAdd }: AddDeploymentProps) {
  const providers = useCall("providers.list").data?.data ?? null;
  const [provider, setProvider] = useState<string | null>(null);
  const [typed, setTyped] = useState("");
  const upstreamModel = typed.trim() || model;
  const isTaken = provider !== null && taken.includes(placedKey(provider, upstreamModel));
  return (
    <Modal opened onClose={onClose} title={t("models.addADeployment")}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (provider !== null && !isTaken) onAdd(provider, upstreamModel);
        }}
      >
        <Stack gap="md">
          <Select
            label={t("models.provider")}
            placeholder={t("models.chooseOne")}
            description={providers?.length === 0 ? t("models.thereIsNoneYetAdd") : undefined}
            searchable
            data-autofocus
            data={(providers ?? []).map(({ id, enabled }) => ({ value: id, label: enabled ? id : `${id} (disabled)` }))}
            value={provider}
            onChange={setProvider}
          />
          <UpstreamModelInput
            provider={provider}
            placeholder={model}
            value={typed}
            onChange={setTyped}
            error={isTaken ? t("models.thisModelLeadsThereAlready") : undefined}
          />
          <Text size="xs" c="dimmed">
            {t("models.itBecomesTheLastStep")}
          </Text>
          <Group justify="flex-end">
            <Button variant="default" onClick={onClose}>
              {t("models.cancel")}
            </Button>
            <Button type="submit" disabled={provider === null || isTaken}>
              {t("models.addDeployment")}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
