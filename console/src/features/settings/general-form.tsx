import { Button, Group, Stack } from "@mantine/core";
import type { ConsoleSettings } from "@sluice/contract";
import { type FormEvent, useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { FormProblem } from "../../components/form-problem.tsx";
import { LeaveGuard } from "../../components/leave-guard.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/settings.ts";
import { locale } from "../../language/chosen.ts";
import { useFaults } from "../catalog/use-faults.ts";
import { ConsoleFields, RequestFields, RetentionFields, UnpricedFields } from "./general-fields.tsx";
import { LedgerExportFields } from "./ledger-export-fields.tsx";
import {
  changeOf,
  draftOf,
  faultsOf,
  isChanged,
  type SettingsDraft,
  settingName,
  shortened,
} from "./settings-draft.ts";

/** All settings with a short explanation. Settings in the config file are locked. */
export function GeneralForm({ answer }: { readonly answer: ConsoleSettings }) {
  const before = draftOf(answer.settings);
  // Only stores changed fields, so that changes by others show up.
  const [touched, setTouched] = useState<Partial<SettingsDraft>>({});
  const [asking, setAsking] = useState(false);
  const draft = { ...before, ...touched };
  const save = useAct("settings.update", {
    inline: true,
    invalidates: ["settings.show", "settings.config", "session.show"],
    shownBy: "settings.show",
    done: t("settings.general.saved"),
    onDone: () => setTouched({}),
  });
  const faults = useFaults(faultsOf(draft), save.error);
  const body = changeOf(before, draft);
  const changed = isChanged(before, draft);
  const removed = shortened(before, draft);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!changed || !faults.check()) return;
    if (removed.length > 0) setAsking(true);
    else save.mutate({ body });
  };
  const discard = () => {
    setTouched({});
    save.reset();
  };
  const fields = {
    draft,
    isLocked: (name: keyof SettingsDraft) =>
      answer.managed_by_file.some((each) => `${settingName(name)}.`.startsWith(`${each}.`)),
    fault: (name: keyof SettingsDraft) =>
      faults.of(name) ?? (save.error?.param === settingName(name) ? wrongField(save.error, settingName(name)) : null),
    change: (changes: Partial<SettingsDraft>) => setTouched((earlier) => ({ ...earlier, ...changes })),
  };
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="lg">
        <RetentionFields {...fields} />
        <LedgerExportFields {...fields} answer={answer} />
        <RequestFields {...fields} />
        <UnpricedFields {...fields} />
        <ConsoleFields {...fields} />
        <FormProblem problem={save.error} />
        <Group justify="flex-end" gap="xs">
          {changed && (
            <Button variant="default" onClick={discard}>
              {t("settings.general.discard")}
            </Button>
          )}
          <Button type="submit" disabled={!changed} loading={save.isPending}>
            {t("settings.general.save")}
          </Button>
        </Group>
      </Stack>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        title={t("settings.general.shorten")}
        verb={t("settings.general.shortenVerb")}
        onConfirm={() => save.mutateAsync({ body })}
      >
        {t("settings.general.shortenHelp", { what: listed.format(removed) })}
      </ConfirmDialog>
      <LeaveGuard dirty={changed} openedBy={["tab"]} />
    </form>
  );
}

const listed = new Intl.ListFormat(locale, { type: "conjunction" });
