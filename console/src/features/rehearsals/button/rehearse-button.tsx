import { Button } from "@mantine/core";
import type { RehearsedChange } from "@sluice/contract";
import { lazy, Suspense, useState } from "react";
import { t } from "../../../language/areas/rehearse.ts";
import { loadChunk } from "../../../routes/load-chunk.ts";
import { useSession } from "../../../session/session-context.tsx";
import type { StartedRehearsal } from "./rehearse-dialog.tsx";

const Dialog = lazy(() => loadChunk(() => import("./rehearse-dialog.tsx")));

interface RehearseButtonProps {
  /** The unsaved form as a change; null: it has no change that can be replayed. */
  readonly change: RehearsedChange | null;
  /** Slug of the workspace with the calls to replay; null: all workspaces, for administrators. */
  readonly workspace: string | null;
  /** Only administrators may make the change; otherwise admins of the workspace too. Others do not see the button. */
  readonly forAdministrators?: boolean;
  readonly size?: "xs";
}

/** Calculates what the unsaved form would have done to past calls. Next to the button that saves the form. */
export function RehearseButton({ change, workspace, forAdministrators = false, size }: RehearseButtonProps) {
  const { may } = useSession();
  const [opened, setOpened] = useState(false);
  // Kept while the dialog is closed: the rehearsal continues.
  const [started, setStarted] = useState<StartedRehearsal | null>(null);
  const mayChange = forAdministrators || workspace === null ? may("administrator") : may("admin", workspace);
  if (!mayChange) return null;
  return (
    <>
      <Button
        variant="default"
        aria-haspopup="dialog"
        disabled={change === null}
        onClick={() => setOpened(true)}
        {...(size === undefined ? {} : { size })}
      >
        {t("rehearse.button")}
      </Button>
      {opened && change !== null && (
        <Suspense>
          <Dialog
            change={change}
            workspace={workspace}
            started={started}
            onStart={setStarted}
            onClose={() => setOpened(false)}
          />
        </Suspense>
      )}
    </>
  );
}
