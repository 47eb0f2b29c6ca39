import { Anchor, Button, Group, Stack } from "@mantine/core";
import type { ConsoleProvider } from "@sluice/contract";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmButton } from "../../components/confirm-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { LeaveGuard } from "../../components/leave-guard.tsx";
import { ManagedByFileNote } from "../../components/managed-by-file.tsx";
import { Section } from "../../components/section.tsx";
import { t } from "../../language/areas/bill.ts";
import { useFaults } from "../catalog/use-faults.ts";
import { type SourceDraft, sourceBody, sourceDraftOf, sourceFaults } from "./source-draft.ts";
import { SourceFields } from "./source-fields.tsx";

const invalidates = ["providers.list", "providers.show", "reconciliation.list"] as const;

/** The billing source of a provider: create, update or remove it. */
export function SourcePanel({ provider }: { readonly provider: ConsoleProvider }) {
  const { id, billing: stored } = provider;
  const [work, setWork] = useState<SourceDraft | null>(null);
  const settings = { invalidates, shownBy: "providers.show", onDone: () => setWork(null) } as const;
  const save = useAct("providers.update", { ...settings, inline: true, done: t("bill.form.saved") });
  const remove = useAct("providers.update", { ...settings, done: t("bill.form.removed") });
  const draft = work ?? sourceDraftOf(stored, provider.kind);
  const faults = useFaults(sourceFaults(draft, stored), save.error);
  const locked = provider.managed_by !== "console";
  const isChanged = work !== null;
  const params = { provider: id };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!locked && faults.check()) save.mutate({ params, body: { billing: sourceBody(draft) } });
  };
  const discard = () => {
    save.reset();
    setWork(null);
  };
  const openBills = (
    <Anchor size="sm" renderRoot={(props) => <Link to="/bill" search={{ provider: id }} {...props} />}>
      {t("bill.form.open")}
    </Anchor>
  );
  return (
    <Section
      title={t("bill.form.title")}
      description={t("bill.form.help")}
      {...(stored === null ? {} : { actions: openBills })}
    >
      <form onSubmit={submit} noValidate>
        <Stack gap="md" maw="40rem">
          <ManagedByFileNote by={provider.managed_by} />
          <SourceFields draft={draft} stored={stored} disabled={locked} fault={faults.of} onChange={setWork} />
          <FormProblem problem={save.error} />
          {!locked && (
            <Group justify="flex-end" gap="xs">
              {stored !== null && (
                <ConfirmButton
                  title={t("bill.form.removeTitle", { provider: id })}
                  verb={t("bill.form.remove")}
                  onConfirm={() => remove.mutateAsync({ params, body: { billing: null } })}
                >
                  {t("bill.form.removeHelp")}
                </ConfirmButton>
              )}
              {isChanged && (
                <Button variant="default" onClick={discard}>
                  {t("bill.form.discard")}
                </Button>
              )}
              <Button type="submit" disabled={!isChanged && stored !== null} loading={save.isPending}>
                {t("bill.form.save")}
              </Button>
            </Group>
          )}
        </Stack>
      </form>
      <LeaveGuard dirty={isChanged && !locked} openedBy={["tab"]} />
    </Section>
  );
}
