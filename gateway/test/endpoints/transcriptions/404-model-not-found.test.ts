import { missingModels } from "../forwarding-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

missingModels(transcriptionsEndpoint);
