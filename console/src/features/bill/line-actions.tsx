import { Button, Group, Stack, Text, Textarea } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { BillLineRow } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { formatUsd } from "../../client/format.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { Modal } from "../../components/modal.tsx";
import { t } from "../../language/areas/bill.ts";

interface LineActionsProps {
  readonly provider: string;
  readonly day: string;
  readonly line: BillLineRow;
}

const invalidates = ["reconciliation.list", "reconciliation.show"] as const;

/** The actions of an administrator on a difference. */
export function LineActions(props: LineActionsProps) {
  const { provider, day, line } = props;
  const accept = useAct("reconciliation.accept", { invalidates, done: t("bill.accept.done") });
  if (line.state !== "different") return null;
  const params = { provider, day };
  const body = { model: line.model, class: line.class };
  // Without users of the model, no one can be charged.
  const mayBook = line.our_models.length > 0 || line.model === "";
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      {line.vendor_price !== null && line.our_models.map((model) => <TakePrice key={model} {...props} model={model} />)}
      {mayBook && (
        <ConfirmButton
          size="compact-xs"
          aria-label={t("bill.accept.label", namesOf(line))}
          title={t("bill.accept.title", { usd: formatUsd(line.difference_usd) })}
          verb={t("bill.accept.verb")}
          label={t("bill.accept.short")}
          onConfirm={() => accept.mutateAsync({ params, body })}
        >
          {t("bill.accept.help")}
        </ConfirmButton>
      )}
      <Explain {...props} />
    </Group>
  );
}

function namesOf(line: BillLineRow) {
  return { model: line.model === "" ? t("bill.noModel") : line.model, class: t(`bill.classes.${line.class}`) };
}

function TakePrice({ provider, day, line, model }: LineActionsProps & { readonly model: string }) {
  const act = useAct("reconciliation.takePrice", {
    invalidates: [...invalidates, "models.list"],
    done: t("bill.price.done"),
  });
  const body = { model: line.model, class: line.class, our_model: model };
  return (
    <ConfirmButton
      size="compact-xs"
      aria-label={t("bill.price.label", { ...namesOf(line), model })}
      title={t("bill.price.title", { model, usd: formatUsd(line.vendor_price ?? 0) })}
      verb={t("bill.price.verb")}
      label={t("bill.price.short")}
      onConfirm={() => act.mutateAsync({ params: { provider, day }, body })}
    >
      {t("bill.price.help")}
    </ConfirmButton>
  );
}

function Explain({ provider, day, line }: LineActionsProps) {
  const [opened, { open, close }] = useDisclosure(false);
  return (
    <>
      <Button variant="default" size="compact-xs" aria-label={t("bill.explain.label", namesOf(line))} onClick={open}>
        {t("bill.explain.short")}
      </Button>
      <Modal opened={opened} onClose={close} title={t("bill.explain.title")}>
        <ExplainForm provider={provider} day={day} line={line} onDone={close} />
      </Modal>
    </>
  );
}

function ExplainForm({ provider, day, line, onDone }: LineActionsProps & { readonly onDone: () => void }) {
  const [note, setNote] = useState("");
  const act = useAct("reconciliation.explain", { invalidates, done: t("bill.explain.done"), inline: true, onDone });
  const body = { model: line.model, class: line.class, note };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (note.trim() !== "") act.mutate({ params: { provider, day }, body });
      }}
    >
      <Stack gap="sm">
        <Text size="sm">{t("bill.explain.help")}</Text>
        <Textarea
          label={t("bill.explain.note")}
          value={note}
          maxLength={1_000}
          autosize
          minRows={2}
          data-autofocus
          onChange={(event) => setNote(event.currentTarget.value)}
        />
        <FormProblem problem={act.error} />
        <Group justify="flex-end">
          <Button type="submit" loading={act.isPending} disabled={note.trim() === ""}>
            {t("bill.explain.verb")}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
