import { badRequests } from "../forwarding-suite.ts";
import { rerankEndpoint } from "./endpoint.ts";

badRequests(rerankEndpoint);
