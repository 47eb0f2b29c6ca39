import { Button, Group, PasswordInput, Stack, Text } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import type { Problem } from "../../client/problem.ts";
import { FormProblem } from "../../components/form-problem.tsx";
import { wrongField } from "../../components/wrong-field.ts";
import { t } from "../../language/areas/profile.ts";

interface ConfirmPasswordProps {
  /** The consequences. */
  readonly children: ReactNode;
  readonly verb: string;
  readonly doing: boolean;
  readonly problem: Problem | null;
  readonly onPassword: (password: string) => void;
}

/** Confirms the password before a change of the second factor. */
export function ConfirmPassword({ children, verb, doing, problem, onPassword }: ConfirmPasswordProps) {
  const [password, setPassword] = useState("");
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onPassword(password);
    setPassword("");
  };
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Text size="sm">{children}</Text>
        <PasswordInput
          label={t("profile.password.title")}
          autoComplete="current-password"
          required
          withAsterisk={false}
          data-autofocus
          maxLength={256}
          error={wrongField(problem, "password")}
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
        />
        <FormProblem problem={problem} />
        <Group justify="flex-end">
          <Button type="submit" size="sm" loading={doing}>
            {verb}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
