export const people = {
  whatBecomesOfTheseKeys: "What becomes of these keys",
  revokeThem: "Revoke them",
  refusedAtOnceForGood: "Refused at once, for good.",
  disableThem: "Disable them",
  refusedAtOnceUntilAn: "Refused at once, until an admin enables them.",
  handThemOver: "Hand them over",
  theyGoOnRotateThose: "They go on. Rotate those whose secret the one who leaves may have.",
  toWhom: "To whom",
  chooseSomebody: "Choose somebody",
  anApiKey: "an API key",
} as const;
