// Finds faults in the frames that a sign has shown. A frame: {at, cents, said, spoken}: its time, the amount on the drums,
// the amount that the page states, and the text for screen readers. A reading of the durable amount: {asked, heard, cents}:
// when it was requested, when it arrived. All times are of one clock, in milliseconds.

// The longest delay until the sign knows that the amount has fallen. Usually it is a fraction of that.
const kLearnMs = 3000;

export function faultsIn(frames, readings) {
  const faults = [];
  const falls = []; // readings that are lower than the one before
  for (let i = 1; i < readings.length; ++i) if (readings[i].cents < readings[i - 1].cents) falls.push(i);
  let after = 0; // the first reading that was requested after the frame
  let stepsBack = 0;
  for (const [i, { at, cents, said, spoken }] of frames.entries()) {
    while (after < readings.length && readings[after].asked <= at) ++after;
    if (after === readings.length) break;
    // Between falls the amount only rises: the next reading after the frame is the upper limit.
    const fall = falls.find((each) => each <= after && readings[each].heard >= at - kLearnMs);
    const most = Math.max(...readings.slice(fall === undefined ? after : fall - 1, after + 1).map((each) => each.cents));
    if (cents > most) faults.push(`above: ${cents} is shown at ${at}, and ${most} is durable`);
    if (spoken > most) faults.push(`above: ${spoken} is spoken at ${at}, and ${most} is durable`);
    if (cents !== said) faults.push(`drawn: ${cents} is shown at ${at}, and ${said} is said to be`);
    if (i > 0 && cents < frames[i - 1].cents) {
      ++stepsBack;
      if (fall === undefined) faults.push(`backwards: from ${frames[i - 1].cents} to ${cents} at ${at}`);
    }
  }
  if (stepsBack > falls.length) faults.push(`backwards: ${stepsBack} times, though the amount fell ${falls.length} times`);
  return faults;
}
