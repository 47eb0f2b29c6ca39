import { Button, PasswordInput, Stack } from "@mantine/core";
import { type FormEvent, useState } from "react";
import { useAuthAct } from "../../api/use-auth.ts";
import { FormProblem } from "../../components/form-problem.tsx";
import { Section } from "../../components/section.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/profile.ts";
import { NewPassword, noPassword, passwordReady } from "../../session/new-password.tsx";

export function PasswordSection() {
  const [open, setOpen] = useState(false);
  return (
    <Section
      title={t("profile.password.title")}
      description={t("profile.password.help")}
      actions={
        !open && (
          <Button variant="default" onClick={() => setOpen(true)}>
            {t("profile.password.change")}
          </Button>
        )
      }
    >
      {open && <PasswordForm onClose={() => setOpen(false)} />}
    </Section>
  );
}

function PasswordForm({ onClose }: { readonly onClose: () => void }) {
  const [current, setCurrent] = useState("");
  const [password, setPassword] = useState(noPassword);
  const [tried, setTried] = useState(false);
  const change = useAuthAct<{ current_password: string; new_password: string }>("/change-password", {
    done: t("profile.password.changed"),
    inline: true,
    onDone: onClose,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setTried(true);
    if (passwordReady(password)) change.mutate({ current_password: current, new_password: password.password });
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm" maw="24rem">
        <PasswordInput
          label={t("profile.password.current")}
          autoComplete="current-password"
          required
          withAsterisk={false}
          autoFocus
          maxLength={256}
          error={wrongField(change.error, "current_password")}
          value={current}
          onChange={(event) => setCurrent(event.currentTarget.value)}
        />
        <NewPassword value={password} onChange={setPassword} tried={tried} label={t("profile.password.new")} />
        <FormProblem problem={change.error} />
        <Button.Group>
          <Button type="submit" size="sm" loading={change.isPending}>
            {t("profile.password.change")}
          </Button>
          <Button variant="default" size="sm" onClick={onClose}>
            {t("profile.cancel")}
          </Button>
        </Button.Group>
      </Stack>
    </form>
  );
}
