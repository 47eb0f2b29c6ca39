export const access = {
  change: {
    title: "How to change it",
    onlyAdministrator: "Only an administrator can do this.",
    onlyRole:
      "{role, select, member {A member of the workspace can do this.} admin {An admin of the workspace can do this.} other {An owner of the workspace can do this.}}",
    enableWorkspace: "Enable the workspace.",
    openWorkspace: "Open workspace",
    workspaceModels:
      "Add {model}, or a pattern that matches it, to the models of the workspace. Its group and key must allow it as well.",
    editWorkspace: "Edit workspace",
    groupModels:
      "Add {model}, or a pattern that matches it, to the models of the group, or move the key to another group.",
    editGroup: "Edit group",
    keyModels:
      "Add {model}, or a pattern that matches it, to the models of the key, or allow the key all models of its group.",
    editKey: "Edit key",
    enableKey: "Enable the key.",
    openKey: "Open key",
    extendKey: "Set a later expiry date, or remove it.",
    revokedKey: "A revoked key cannot be restored. Create a new one.",
    createKey: "Create key",
    rotateKey: "Rotate the key to give it a secret.",
    deployModel: "Add a deployment to the model, or enable one.",
    priceModel: "Set the model’s price, or allow it without one.",
    openModel: "Open model",
  },
  panel: {
    title: "Access explained",
    subject: "Key <b>{key}</b>, model <b>{model}</b>",
  },
  fallback: {
    title: "When this model fails",
    allowed: "{model}: tried next",
    denied: "{model}: skipped, the key cannot call it",
  },
  step: {
    state: "Status",
    noPatterns: "No model list: all models of its group are allowed.",
    noMatch: "None of its patterns matches {model}:",
    shadow: "None of its patterns matches {model}, but they are in shadow mode, so calls pass:",
    match: "Allowed by <code>{pattern}</code>",
    deployments: "Deployments",
    deploymentCount:
      "{count, plural, =0 {No enabled deployment.} one {# enabled deployment.} other {# enabled deployments.}}",
    neutral: "No rule",
  },
  yes: "Yes",
  no: "No",
  mark: {
    yes: "Allowed",
    workspace: "Not allowed by the workspace",
    group: "Not allowed by the group",
    key: "Not allowed by the key",
    out: "Key or workspace is not active",
    unserved: "Allowed, but no deployment serves it",
  },
  denied:
    "{reason, select, workspace_disabled {No: workspace disabled} workspace_models {No: workspace} group_models {No: group} key_models {No: key} key_disabled {No: key disabled} key_expired {No: key expired} key_revoked {No: key revoked} key_without_secret {No: no secret} model_not_priced {No: no price} no_deployment {No: no deployment} other {Not allowed}}",
  reason: {
    yes: "The key can call it.",
    workspaceDisabled: "The workspace is disabled, so its keys do not work.",
    workspaceModels: "The workspace does not allow this model.",
    groupModels: "The group of the key does not allow this model.",
    keyModels: "The key does not allow this model.",
    keyDisabled: "The key is disabled.",
    keyExpired: "The key has expired.",
    keyRevoked: "The key was revoked.",
    noSecret: "The key has no secret yet, so it cannot be used.",
    noDeployment: "Access is allowed, but no enabled deployment serves this model.",
    notPriced: "The model has no price, and the settings refuse models without one.",
  },
} as const;
