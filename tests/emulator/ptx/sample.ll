; What LLVM makes of the kind of kernel that the compiler writes: one warp for one block, scalars
; computed by all lanes, branches on them, lanes that meet by intrinsics. ptx/generate makes
; sample.ptx of this file.
target triple = "nvptx64-nvidia-cuda"

@tile = external addrspace(3) global [0 x i32], align 16

declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.redux.sync.add(i32, i32)
declare i32 @llvm.nvvm.redux.sync.umin(i32, i32)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1)
declare i32 @llvm.nvvm.shfl.sync.idx.i32(i32, i32, i32, i32)
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
declare void @llvm.nvvm.bar.warp.sync(i32)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
declare i64 @llvm.umin.i64(i64, i64)
declare float @llvm.sqrt.f32(float)
declare float @llvm.fma.f32(float, float, float)
declare i32 @llvm.fptosi.sat.i32.f32(float)

; A little machine: block b runs the `count` commands {kind, value} that start at commands[2 * b *
; count], on 32 slots in shared memory, and writes the slots and a log.
define ptx_kernel void @machine(ptr addrspace(1) noalias readonly %commands, ptr addrspace(1) noalias %slots, ptr addrspace(1) noalias %log, i32 %count) {
entry:
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %mine = getelementptr i32, ptr addrspace(3) @tile, i32 %lane
  store i32 %lane, ptr addrspace(3) %mine, align 4
  %start = mul i32 %block, %count
  %any = icmp sgt i32 %count, 0
  br i1 %any, label %loop, label %done

loop:
  %i = phi i32 [ 0, %entry ], [ %next, %step ]
  %sum = phi i64 [ 0, %entry ], [ %new, %step ]
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  %index = add i32 %start, %i
  %wide = sext i32 %index to i64
  %command = getelementptr { i32, i32 }, ptr addrspace(1) %commands, i64 %wide
  %kind = load i32, ptr addrspace(1) %command, align 8
  %value.at = getelementptr { i32, i32 }, ptr addrspace(1) %commands, i64 %wide, i32 1
  %value = load i32, ptr addrspace(1) %value.at, align 4
  %slot = load i32, ptr addrspace(3) %mine, align 4
  switch i32 %kind, label %other [ i32 1, label %add  i32 2, label %find  i32 3, label %rotate  i32 4, label %root  i32 5, label %put ]

add:
  %a.new = add i32 %slot, %value
  store i32 %a.new, ptr addrspace(3) %mine, align 4
  %a.sum = call i32 @llvm.nvvm.redux.sync.add(i32 %a.new, i32 -1)
  %a.wide = sext i32 %a.sum to i64
  br label %step

find:
  %f.above = icmp ugt i32 %slot, %value
  %f.mask = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %f.above)
  %f.lane = call i32 @llvm.cttz.i32(i32 %f.mask, i1 false)
  %f.count = call i32 @llvm.ctpop.i32(i32 %f.mask)
  %f.from = and i32 %f.lane, 31
  %f.slot = call i32 @llvm.nvvm.shfl.sync.idx.i32(i32 -1, i32 %slot, i32 %f.from, i32 31)
  %f.mix = mul i32 %f.slot, %f.count
  %f.wide = zext i32 %f.mix to i64
  br label %step

rotate:
  %r.other = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %slot, i32 5, i32 31)
  %r.new = call i32 @llvm.fshl.i32(i32 %slot, i32 %r.other, i32 %value)
  store i32 %r.new, ptr addrspace(3) %mine, align 4
  %r.least = call i32 @llvm.nvvm.redux.sync.umin(i32 %r.new, i32 -1)
  %r.wide = zext i32 %r.least to i64
  %r.shift = shl i64 %r.wide, 17
  br label %step

root:
  %q.value = uitofp i32 %value to float
  %q.root = call float @llvm.sqrt.f32(float %q.value)
  %q.more = call float @llvm.fma.f32(float %q.root, float 3.0, float 0.125)
  %q.part = fdiv float %q.more, 7.0
  %q.int = call i32 @llvm.fptosi.sat.i32.f32(float %q.part)
  %q.bits = bitcast float %q.part to i32
  %q.both = xor i32 %q.bits, %q.int
  %q.wide = sext i32 %q.both to i64
  br label %step

put:
  ; a scalar goes to one slot: all lanes store the same, and may then not read it before a barrier
  %p.which = and i32 %value, 31
  %p.at = getelementptr i32, ptr addrspace(3) @tile, i32 %p.which
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  store i32 %value, ptr addrspace(3) %p.at, align 4
  %p.div = sdiv i32 %value, 7
  %p.rem = urem i32 %value, 11
  %p.mix = sub i32 %p.div, %p.rem
  %p.wide = sext i32 %p.mix to i64
  br label %step

other:
  %o.wide = sext i32 %value to i64
  %o.least = call i64 @llvm.umin.i64(i64 %o.wide, i64 %sum)
  br label %step

step:
  %result = phi i64 [ %a.wide, %add ], [ %f.wide, %find ], [ %r.shift, %rotate ], [ %q.wide, %root ], [ %p.wide, %put ], [ %o.least, %other ]
  %rolled = mul i64 %sum, 31
  %new = add i64 %rolled, %result
  %log.at = getelementptr i64, ptr addrspace(1) %log, i64 %wide
  store i64 %new, ptr addrspace(1) %log.at, align 8
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %count
  br i1 %more, label %loop, label %done

done:
  call void @llvm.nvvm.bar.warp.sync(i32 -1)
  ; each lane takes its neighbour's slot: only now the barrier before matters to all of them
  %peer = xor i32 %lane, 1
  %peer.at = getelementptr i32, ptr addrspace(3) @tile, i32 %peer
  %last = load i32, ptr addrspace(3) %peer.at, align 4
  %row = shl i32 %block, 5
  %out = add i32 %row, %lane
  %out.wide = sext i32 %out to i64
  %out.at = getelementptr i32, ptr addrspace(1) %slots, i64 %out.wide
  store i32 %last, ptr addrspace(1) %out.at, align 4
  ret void
}
