import { leavers } from "../passed-suite.ts";
import { transcriptionsEndpoint } from "./endpoint.ts";

leavers(transcriptionsEndpoint);
