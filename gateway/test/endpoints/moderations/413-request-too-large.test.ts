import { tooLargeBodies } from "../forwarding-suite.ts";
import { moderationsEndpoint } from "./endpoint.ts";

tooLargeBodies(moderationsEndpoint);
