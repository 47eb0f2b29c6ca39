import { Stack } from "@mantine/core";
import type { LeaverKeys, Person } from "@sluice/contract";
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { ConfirmDialog } from "../../components/confirm-button.tsx";
import { LeaverKeysChoice, noChoice } from "./leaver-keys.tsx";

interface LeaverDialogProps {
  readonly leaver: Person;
  /** A slug, or `-` for every workspace. */
  readonly workspace: string;
  readonly untouched?: readonly string[];
  readonly keepsSpend?: boolean;
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly verb: string;
  readonly typed?: string;
  readonly children: ReactNode;
  /** `keys` undefined: the person has no keys to decide about. */
  readonly onConfirm: (keys: LeaverKeys | undefined) => Promise<unknown>;
}

/** Confirms that a person loses rights. The button stays off until every API key of theirs has a decision. */
export function LeaverDialog({
  leaver,
  workspace,
  untouched,
  keepsSpend,
  children,
  onConfirm,
  ...dialog
}: LeaverDialogProps) {
  const queries = useQueryClient();
  const [choice, setChoice] = useState(noChoice);
  return (
    <ConfirmDialog
      {...dialog}
      size="lg"
      ready={choice.isComplete}
      onConfirm={async () => {
        try {
          await onConfirm(choice.keys);
        } catch (thrown) {
          // The person may have other keys by now.
          await queries.invalidateQueries({ queryKey: ["keys.list"] });
          throw thrown;
        }
      }}
    >
      <Stack gap="sm">
        {children}
        <LeaverKeysChoice
          key={workspace}
          leaver={leaver}
          workspace={workspace}
          {...(untouched === undefined ? {} : { untouched })}
          {...(keepsSpend === undefined ? {} : { keepsSpend })}
          onChoice={setChoice}
        />
      </Stack>
    </ConfirmDialog>
  );
}
