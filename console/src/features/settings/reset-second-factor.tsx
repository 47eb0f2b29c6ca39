import { Checkbox, Stack } from "@mantine/core";
import type { ConsoleUser } from "@sluice/contract";
import { useState } from "react";
import { useAct } from "../../api/use-act.ts";
import { ConfirmDialog } from "../../components/confirm-button.tsx";

interface ResetSecondFactorProps {
  readonly user: ConsoleUser;
  readonly opened: boolean;
  readonly onClose: () => void;
}

/** Helps somebody who lost their phone or their key: what they lost opens nothing any more, and is not asked for. */
export function ResetSecondFactor({ user, opened, onClose }: ResetSecondFactorProps) {
  const [ticked, setTicked] = useState(false);
  const reset = useAct("users.resetSecondFactor", {
    invalidates: ["users.list"],
    done: `${user.email} signs in without it now.`,
  });
  // Whoever has passkeys alone can have lost nothing else.
  const passkeys = user.passkeys > 0 && (ticked || !user.two_factor);
  const close = () => {
    setTicked(false);
    onClose();
  };
  return (
    <ConfirmDialog
      opened={opened}
      onClose={close}
      title={`Reset the second factor of ${user.email}?`}
      verb="Reset second factor"
      onConfirm={() => reset.mutateAsync({ params: { user: user.id }, body: { passkeys } })}
    >
      <WhatHappens user={user} ticked={ticked} onTick={setTicked} />
    </ConfirmDialog>
  );
}

interface WhatHappensProps {
  readonly user: ConsoleUser;
  readonly ticked: boolean;
  readonly onTick: (ticked: boolean) => void;
}

function WhatHappens({ user, ticked, onTick }: WhatHappensProps) {
  // As they were when it was asked: the list is new before the dialog is gone.
  const [{ two_factor: app, passkeys }] = useState(user);
  const words = passkeys === 1 ? "passkey" : `${passkeys} passkeys`;
  return (
    <Stack gap="sm">
      <span>
        {app
          ? "Their authenticator app and backup codes stop working, and they are signed out everywhere. From then on their password alone signs them in, until they set up a new app on their profile page."
          : `Their ${words} will be removed, and they are signed out everywhere. Without a password they need a reset link too.`}{" "}
        Be sure first that it is them who ask.
      </span>
      {app && passkeys > 0 && (
        <Checkbox
          label={`Remove their ${words} too`}
          description="If they are lost as well. Else they go on working."
          checked={ticked}
          onChange={(event) => onTick(event.currentTarget.checked)}
        />
      )}
    </Stack>
  );
}
